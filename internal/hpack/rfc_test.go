package hpack

import (
	"slices"
	"testing"
)

// The examples of RFC 7541 appendix C.

func TestRFCSingleFields(t *testing.T) { // C.2
	for name, s := range map[string]step{
		"C.2.1 with indexing": {
			block:  "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
			fields: []string{"custom-key: custom-header"},
			table:  []string{"custom-key: custom-header"}, size: 55,
		},
		"C.2.2 without indexing": {
			block:  "040c 2f73 616d 706c 652f 7061 7468",
			fields: []string{":path: /sample/path"},
			table:  []string{}, size: 0,
		},
		"C.2.3 never indexed": {
			block:  "1008 7061 7373 776f 7264 0673 6563 7265 74",
			fields: []string{"password: secret"},
			table:  []string{}, size: 0,
		},
		"C.2.4 indexed": {
			block:  "82",
			fields: []string{":method: GET"},
			table:  []string{}, size: 0,
		},
	} {
		t.Run(name, func(t *testing.T) { runSession(t, New(), []step{s}) })
	}
}

func TestRFCRequests(t *testing.T) { // C.3 and C.4
	first := []string{":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"}
	second := slices.Concat(first, []string{"cache-control: no-cache"})
	third := []string{
		":method: GET", ":scheme: https", ":path: /index.html", ":authority: www.example.com",
		"custom-key: custom-value",
	}
	after1 := []string{":authority: www.example.com"}
	after2 := append([]string{"cache-control: no-cache"}, after1...)
	after3 := append([]string{"custom-key: custom-value"}, after2...)
	for name, blocks := range map[string][3]string{
		"C.3 plain": {
			"8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
			"8286 84be 5808 6e6f 2d63 6163 6865",
			"8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
		},
		"C.4 Huffman": {
			"8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
			"8286 84be 5886 a8eb 1064 9cbf",
			"8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
		},
	} {
		t.Run(name, func(t *testing.T) {
			runSession(t, New(), []step{
				{blocks[0], first, after1, 57},
				{blocks[1], second, after2, 110},
				{blocks[2], third, after3, 164},
			})
		})
	}
}

// The examples of responses evict entries from a table of 256 bytes.
func TestRFCResponses(t *testing.T) { // C.5 and C.6
	const (
		private  = "cache-control: private"
		date21   = "date: Mon, 21 Oct 2013 20:13:21 GMT"
		date22   = "date: Mon, 21 Oct 2013 20:13:22 GMT"
		location = "location: https://www.example.com"
		gzip     = "content-encoding: gzip"
		cookie   = "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
	)
	for name, blocks := range map[string][3]string{
		"C.5 plain": {
			`4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133
			 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70
			 6c65 2e63 6f6d`,
			"4803 3330 37c1 c0bf",
			`88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d
			 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049
			 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e
			 3d31`,
		},
		"C.6 Huffman": {
			`4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6
			 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`,
			"4883 640e ffc1 c0bf",
			`88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab
			 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f
			 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := New()
			d.SetTableSize(256)
			runSession(t, d, []step{
				{"3fe101", nil, []string{}, 0}, // the size update that the examples leave out
				{
					blocks[0],
					[]string{":status: 302", private, date21, location},
					[]string{location, date21, private, ":status: 302"},
					222,
				},
				{
					blocks[1],
					[]string{":status: 307", private, date21, location},
					[]string{":status: 307", location, date21, private},
					222,
				},
				{
					blocks[2],
					[]string{":status: 200", private, date22, location, gzip, cookie},
					[]string{cookie, gzip, date22},
					215,
				},
			})
		})
	}
}

// Four requests as libnghttp2 1.52 encodes them, and so curl: the first block is
// what curl 7.88 sends. It keeps :path and content-length out of the table, never
// indexes authorization, and leaves out Huffman coding where that is longer.
func TestNghttp2Requests(t *testing.T) {
	request := func(more ...string) []string {
		return append([]string{
			":method: POST", ":path: /attempt", ":scheme: http", ":authority: 127.0.0.1:5454",
			"user-agent: curl/7.88.1", "accept: */*",
		}, more...)
	}
	runSession(t, New(), []step{
		{
			block: `83048660694969ad3f86418a089d5c0b8170dc6da6da7a8825b650c3abbcf2e153032a2f2a4087f2
			        b58541edb08589496a1d4958000044cf4086f2b576165379851d11db4a3f4086f2b5254ce7930347
			        45544086f2b585ecb1a48c0044cb4db8ebcf8e3248597f`,
			fields: request("x-resource: tenant-000123", "x-prefix: albums", "x-method: GET",
				"x-req-id: 0123456789abcdef"),
		},
		{
			block: "83048660694969ad3f86c4c3c2c1c0bf7e8c94b21231bef3ae36d322083f",
			fields: request("x-resource: tenant-000123", "x-prefix: albums", "x-method: GET",
				"x-req-id: fedcba9876543210"),
		},
		{
			block: "83048660694969ad3f86c5c4c37f0389496a1d49580003aebbc2c17f008b00021109966428e48ca597",
			fields: request("x-resource: tenant-000777", "x-prefix: albums", "x-method: GET",
				"x-req-id: 00112233deadbeef"),
		},
		{
			block: `83048660694969ad3f86c7c6c57f000bd184d0bed182d0be2fc3a9c41f0884414961530f0d0130`,
			fields: request("x-resource: фото/é", "x-prefix: albums", "authorization: secret",
				"content-length: 0"),
		},
	})
}
