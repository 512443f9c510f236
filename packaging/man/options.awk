# Turns the --help of a daemon into the OPTIONS section of its manual page.
function roff(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); if (s ~ /^[.']/) s = "\\&" s; return s }
/^ +(-[a-z], )?--[a-z]/ {
  match($0, /--[a-z][a-z0-9-]*/)
  name = substr($0, RSTART, RLENGTH)
  rest = substr($0, RSTART + RLENGTH)
  value = ""
  if (match(rest, /^ [A-Z][^ ]*( |$)/)) { value = substr(rest, 2, RLENGTH - 1); rest = substr(rest, RLENGTH + 1) }
  sub(/ +$/, "", value)
  sub(/^ +/, "", rest)
  print ".TP"
  print "\\fB" roff(name) "\\fR" (value == "" ? "" : " \\fI" roff(value) "\\fR")
  if (rest != "") print roff(rest)
  inside = 1
  next
}
/^[A-Z][^:]*:$/ { print ".SS " substr($0, 1, length($0) - 1); inside = 0; next }
/^ / && inside { sub(/^ +/, ""); print roff($0) }
