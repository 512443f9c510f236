package ansible

import "testing"

func wrongInventories(t *testing.T, s *site) {}
