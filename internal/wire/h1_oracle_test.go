package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/levee-project/levee/internal/attempt"
)

// theirNext reads one request as net/http's server does.
func theirNext(b []byte) (u understood, err error) {
	b, skipped := bytes.CutPrefix(b, []byte("\r\n")) // net/http does after a POST
	left := bytes.NewReader(b)
	in := bufio.NewReaderSize(left, 64<<10)
	r, err := http.ReadRequest(in)
	if err != nil {
		return u, err
	}
	if err := serverChecks(r, b); err != nil {
		return u, err
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return u, fmt.Errorf("body: %w", err)
	}
	u = understood{method: r.Method, path: pathOf([]byte(r.URL.Path)), size: len(b) - left.Len() - in.Buffered()}
	if skipped {
		u.size += 2
	}
	u.attempt, u.bad = theirAttempt(r.Header)
	return u, nil
}

// serverChecks are what http.Server checks after ReadRequest, which has taken
// Host out of the fields.
func serverChecks(r *http.Request, b []byte) error {
	in := textproto.NewReader(bufio.NewReader(bytes.NewReader(b)))
	if _, err := in.ReadLine(); err != nil {
		return err
	}
	fields, err := in.ReadMIMEHeader()
	switch hosts := fields["Host"]; {
	case err != nil:
		return err
	case r.ProtoMajor != 1:
		return errors.New("another version")
	case r.ProtoAtLeast(1, 1) && len(hosts) == 0:
		return errors.New("no Host")
	case len(hosts) > 0 && !httpguts.ValidHostHeader(hosts[0]):
		return errors.New("invalid Host")
	}
	for name, values := range fields {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("invalid field name %q", name)
		}
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) {
				return fmt.Errorf("invalid value of %q", name)
			}
		}
	}
	return nil
}

// theirAttempt makes an attempt of net/http's fields, by the rules of the manual.
func theirAttempt(h http.Header) (described string, bad bool) {
	a := attempt.Attempt{Hits: 1}
	for _, name := range []string{"X-Resource", "X-Prefix", "X-Method", "X-Hits"} {
		values := h[name]
		if len(values) > 1 || len(values) == 1 && name != "X-Hits" && len(values[0]) > attempt.MaxKeyPart {
			return "", true
		}
		if len(values) == 0 {
			continue
		}
		switch value := []byte(values[0]); name {
		case "X-Resource":
			a.Resource = value
		case "X-Prefix":
			a.Prefix = bytes.Trim(value, "/")
		case "X-Method":
			a.Method = value
		case "X-Hits":
			if strings.Trim(values[0], "0123456789") != "" {
				return "", true
			}
			n, err := strconv.ParseUint(values[0], 10, 64)
			if err != nil || n > attempt.MaxHits {
				return "", true
			}
			a.Hits = uint32(n)
		}
	}
	if ids := h["X-Req-Id"]; len(ids) > 0 {
		a.ReqID = []byte(ids[len(ids)-1])
	}
	if len(a.Resource) == 0 {
		return "", true
	}
	return describe(&a), false
}

// justified says where net/http may refuse what we accept.
func justified(err error, u *understood) bool {
	var target *url.Error
	switch {
	case errors.As(err, &target) && u.path == pathOther:
		return true // a target that is no path of ours is answered with 404, whatever it is
	case errors.Is(err, bufio.ErrBufferFull), strings.Contains(err.Error(), "line too long"),
		strings.Contains(err.Error(), "too much non-data"):
		return true // net/http's bound on one chunk extension is 4 KiB, ours 16 KiB in sum
	case strings.Contains(err.Error(), "bad trailer key"):
		return true // Trailer announces a field that must not be one; we read none of them
	}
	return false
}
