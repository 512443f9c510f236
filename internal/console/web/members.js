// The table of members, and the sentences above it.
"use strict";
(() => {
  const roles = { limiter: "Limiters", "client-proxy": "Client-proxies", observer: "Observers" };
  const rows = new Map(); // by role and id
  const bodies = new Map(); // by role
  const { make, say, find } = levee;

  const body = (role) => {
    if (!bodies.has(role)) {
      const b = make("tbody", "", { "data-role": role });
      if (document.body.dataset.alone !== "true") {
        b.append(make("tr", "head", null, make("th", "role", { scope: "rowgroup", colspan: 11 }, roles[role] || role)));
      }
      bodies.set(role, b);
      const order = Object.keys(roles);
      const next = [...bodies.entries()].filter(([r]) => order.indexOf(r) > order.indexOf(role)).map(([, e]) => e)
        .sort((x, y) => order.indexOf(x.dataset.role) - order.indexOf(y.dataset.role))[0];
      find("members").insertBefore(b, next || null);
    }
    return bodies.get(role);
  };

  const cell = (classes, label) => make("td", classes, { "data-label": label });

  const create = (m) => {
    const r = { row: make("tr", "", { "data-id": m.id, "data-role": m.role }) };
    r.name = make("th", "name wide", { scope: "row" }, m.id);
    if (m.here && document.body.dataset.alone !== "true") r.name.append(make("small", "", null, "serves this page"));
    r.state = cell("wide", "State");
    r.pill = make("span", "pill", null, make("span", "dot", { "aria-hidden": "true" }), make("span", "word", null));
    r.words = make("span", "words", null);
    r.state.append(r.pill, r.words);
    r.accepted = cell("number", "Accepted/s");
    r.rejected = cell("number", "Rejected/s");
    r.failed = cell("number", "Failed/s");
    r.past = cell("past", "Last minutes");
    if (m.role === "limiter") {
      r.line = levee.svg("path", {});
      r.under = levee.svg("path", { class: "under" });
      r.past.append(levee.svg("svg", { class: "spark", viewBox: "0 0 110 26", preserveAspectRatio: "none", "aria-hidden": "true" }, r.under, r.line));
    }
    r.keys = cell("number", "Keys");
    r.revision = cell("number", "Revision");
    r.address = cell("address", "Address");
    r.version = cell("version", "Version");
    r.since = cell("since", "Since");
    r.row.append(r.name, r.state, r.accepted, r.rejected, r.failed, r.past, r.keys, r.revision, r.version, r.address, r.since);
    body(m.role).append(r.row);
    return r;
  };

  const update = (r, m, now, top) => {
    r.row.dataset.health = m.health;
    r.pill.dataset.health = m.health;
    say(r.pill.lastChild, m.state);
    say(r.words, m.words || "");
    for (const kind of ["accepted", "rejected", "failed"]) {
      const n = m.rates ? m.rates[kind] : undefined;
      say(r[kind], m.role === "observer" ? "" : levee.number(n));
      r[kind].classList.toggle("zero", !n);
      r[kind].classList.toggle("failing", kind === "failed" && n > 0);
    }
    if (r.line) levee.rates.spark(m.id, r.line, r.under, top);
    say(r.keys, m.keys === undefined ? "" : levee.number(m.keys));
    say(r.revision, m.revision === undefined ? "–" : String(m.revision) + (m.lags ? " (older)" : ""));
    const address = m.service || m.admin || "–";
    say(r.address, address);
    r.address.classList.toggle("long", address.length > 22); // IPv6
    r.address.title = m.admin ? `admin port ${m.admin}` : "";
    say(r.version, m.version || "–");
    const since = new Date(m.since);
    say(r.since, since.getTime() > 0 ? levee.ago(since, now) : "–");
    r.since.title = since.getTime() > 0 ? since.toISOString() : "";
  };

  const title = document.title;
  let told = "";
  const problems = (list) => {
    const text = JSON.stringify(list);
    if (text === told) return;
    told = text;
    find("problems").replaceChildren(...list.map((p) => make("p", "problem", { "data-health": p.health }, p.text)));
  };

  levee.members = {
    show(frame) {
      const now = new Date(frame.time), seen = new Set(), top = levee.rates.top();
      for (const m of frame.members) {
        const key = m.role + " " + m.id;
        seen.add(key);
        if (!rows.has(key)) rows.set(key, create(m));
        update(rows.get(key), m, now, top);
      }
      for (const [key, r] of rows) if (!seen.has(key)) { r.row.remove(); rows.delete(key); }
      for (const [role, b] of bodies) if (!b.querySelector("[data-id]")) { b.remove(); bodies.delete(role); }
      problems(frame.problems);
      const bad = frame.members.filter((m) => m.health === "bad").length;
      say(find("members-count"), levee.plural(frame.members.length, "process", "processes") + (bad ? `, ${bad} in trouble` : ""));
      document.title = (bad ? `${bad} in trouble · ` : "") + title;
      const l = frame.limiters;
      if (l) {
        say(find("serving"), String(l.serving));
        say(find("serving-more"), l.silent ? `serving, ${l.silent} silent` : `serving, ${l.wanted} wanted`);
      }
    },
  };
})();
