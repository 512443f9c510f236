// Hot keys, and the shared configuration.
"use strict";
(() => {
  const { make, say, find } = levee;

  // what is a key: a button that asks who decides about it.
  const what = (k) => {
    const b = k.cut ? make("span", "code", { title: "too long to be shown whole" }, k.resource + "…") : make("button", "code", { type: "button", "data-key": "" }, k.resource);
    if (!k.cut) b.addEventListener("click", () => levee.group.ask(k.resource, k.prefix || "", k.method || "", true));
    const more = [k.prefix && `prefix ${k.prefix}`, k.method && `method ${k.method}`, k.level === "none" ? "no quota" : `${k.level} quota`].filter(Boolean).join(", ");
    return make("td", "what", null, b, make("small", "", null, " " + more));
  };

  const table = (title, list) => {
    const most = Math.max(...list.map((k) => k.rate));
    const rows = list.map((k) => make("tr", "", null, what(k),
      make("td", "", { "aria-hidden": "true" }, levee.bar(k.rate / most)),
      make("td", "number", { title: `at most ${levee.number(k.error)} off` }, levee.number(k.rate))));
    return make("table", "keys", { "aria-label": title },
      make("thead", "hidden", null, make("tr", "", null, make("th", "", { scope: "col" }, "Key"), make("td"), make("th", "number", { scope: "col" }, "A second"))),
      make("tbody", "", null, ...rows));
  };

  const told = {};
  const keys = (id, title, list) => {
    const box = find(id), text = JSON.stringify(list || null);
    if (told[id] === text || box.contains(document.activeElement)) return; // a row is not taken from under the keyboard
    told[id] = text;
    if (!list) box.replaceChildren(make("p", "quiet", null, "No limiter counts its keys."));
    else if (!list.length) box.replaceChildren(make("p", "quiet", null, "None."));
    else box.replaceChildren(table(title, list));
  };

  const store = (s) => {
    const all = s.known + (s.unknown ? s.unknown.length : 0);
    say(find("in-force"), s.known ? `${s.in_force} of ${all}` : "–");
    say(find("in-force-more"), s.known ? `have revision ${s.revision}` : "");
    find("in-force").classList.toggle("attention", s.in_force < all);
    const lines = [s.known ? `Revision ${s.revision} in force on ${s.in_force} of ${all}.` : "No member says which revision is in force."];
    if (s.lagging) lines.push(`Older: ${s.lagging.join(", ")}.`);
    if (s.away) lines.push(`Not connected to the store: ${s.away.join(", ")}.`);
    if (s.unknown) lines.push(`Not known of: ${s.unknown.join(", ")}.`);
    lines.push(s.invalid ? `${levee.plural(s.invalid, "entry has", "entries have")} no effect:` : "All entries are valid.");
    const text = JSON.stringify([lines, s.faults || []]);
    if (told.store === text) return;
    told.store = text;
    find("store").replaceChildren(make("div", "lines", null, ...lines.map((l) => make("p", "", null, l))));
    const faults = (s.faults || []).map((f) => make("tr", "", null,
      make("th", "name code", { scope: "row" }, f.key), make("td", "", null, make("span", "wrong", null, f.why)), make("td", "number", null, String(f.at))));
    find("faults").replaceChildren(...(faults.length ? [make("table", "", { "aria-label": "Entries without effect" },
      make("thead", "", null, make("tr", "", null, make("th", "", { scope: "col" }, "Entry"), make("th", "", { scope: "col" }, "Fault"), make("th", "number", { scope: "col" }, "Seen by"))),
      make("tbody", "", null, ...faults))] : []));
  };

  levee.keys = {
    show(frame) {
      keys("hottest", "Hottest keys", frame.hottest);
      keys("most-rejected", "Most rejected keys", frame.rejected);
      store(frame.store);
    },
  };
})();
