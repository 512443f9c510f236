package console

import "github.com/levee-project/levee/internal/adminapi"

// shownKeys is how many hot keys a frame has of each kind.
const shownKeys = 20

// hot fills in the keys that are hottest over all limiters. Client-proxies see the
// same attempts once more.
func (c *collector) hot(f *frame) {
	var tops []*adminapi.Top
	if c.source.Top != nil {
		top := c.source.Top()
		tops = append(tops, &top)
	}
	for _, k := range c.members {
		if k.top != nil {
			tops = append(tops, k.top)
		}
	}
	if len(tops) == 0 {
		return
	}
	all := adminapi.Merge(tops...)
	all.First(shownKeys)
	f.Hottest, f.Rejected = hotKeys(all.Attempts, all.Seconds), hotKeys(all.Rejections, all.Seconds)
}

// hotKeys are counts as rates.
func hotKeys(keys []adminapi.Key, seconds float64) []hotKey {
	list := make([]hotKey, len(keys)) // [] in JSON
	for i, k := range keys {
		per := max(1, seconds)
		list[i] = hotKey{
			Resource: k.Resource, Prefix: k.Prefix, Method: k.Method, Level: k.Level, Cut: k.Digest != "",
			Rate: k.Count / per, Error: k.Error / per,
		}
	}
	return list
}
