package wire

type http2 struct{}

func (c *conn) serveHTTP2() {}

func (h *http2) drain() {}
