// The picture of a group: who decides about an attempt, and why.
"use strict";
(() => {
  const { make, find } = levee;
  let asked = null; // what is shown, as parameters

  const rung = (place, i, found) => {
    const state = found < 0 || i < found ? "passed" : i === found ? "found" : "beyond";
    return make("li", "rung " + state, { "data-entry": place.entry },
      make("span", "level", null, place.level), make("span", "code", null, place.entry),
      i === found ? make("span", "applies", null, "applies") : null,
      make("span", "quota", null, place.quota ? make("code", "", null, place.quota) : make("span", "quiet", null, "no entry")),
      place.fault ? make("span", "wrong", null, `No effect: ${place.fault} (a daemon that has seen a good value before keeps that)`) : null);
  };

  const hits = (n) => (Math.round(n * 10) / 10 === 1 ? "1 hit" : `${levee.number(Math.round(n * 10) / 10)} hits`);
  const owes = (place) => {
    if (place.fault) return make("span", "wrong", null, place.fault);
    const b = place.bucket;
    if (!b) return null;
    if (!b.at_once) return make("span", "quiet", null, "rejects everything");
    const words = `owes ${hits(b.debt_hits)}; ${levee.number(b.remaining)} of ${levee.number(b.at_once)} would pass now`;
    return make("span", "owes", null,
      make("span", b.remaining ? "" : "rejections", null, levee.bar(b.debt_hits / b.at_once)), make("span", "", null, words));
  };

  const limiter = (place, i) => make("li", place.decides ? "decides" : "standin", { "data-id": place.id },
    make("span", "rank", null, `${i + 1}.`),
    make("span", "", null, make("span", "who", null, place.id), place.address ? make("small", "", null, ` ${place.address}`) : null,
      place.decides ? null : make("small", "", null, " stands in"), owes(place)));

  const show = (p) => {
    const e = p.explanation, found = e.entry ? e.places.findIndex((x) => x.entry === e.entry) : -1;
    const none = "No quota applies: accepted, unless the option no-quota says otherwise.";
    find("picture").replaceChildren(make("div", "picture", { "data-level": e.level, "data-revision": p.revision },
      make("div", "", null,
        make("h3", "", null, "Where a quota is looked for, in order"),
        make("ol", "ladder", null, ...e.places.map((x, i) => rung(x, i, found)))),
      make("div", "", null,
        make("h3", "", null, "What it draws from, and who decides"),
        e.bucket ? make("p", "verdict", null, "One bucket for ", make("b", "", null, p.bucket)) : make("p", "verdict", null, none),
        make("p", "verdict", null, e.group.in_force === e.group.wanted ? `A group of ${levee.plural(e.group.in_force, "limiter", "limiters")}` : `A group of ${e.group.in_force} in force, ${e.group.wanted} wanted`,
          p.limiter ? `, each passes ${p.limiter}` : ""),
        make("ol", "order", null, ...p.places.map(limiter)))));
  };

  const fail = (text) => find("picture").replaceChildren(make("p", "problem", { "data-health": "warn" }, text));

  const load = async (spoken) => {
    const query = asked;
    try {
      const answer = await fetch("console/group?" + query, { signal: AbortSignal.timeout(5000) });
      const text = await answer.text();
      if (query !== asked) return; // something else was asked meanwhile
      if (!answer.ok) fail(text.trim());
      else {
        const p = JSON.parse(text);
        show(p);
        if (spoken) levee.say(find("picture-said"), p.bucket ? `${p.explanation.level} level, ${p.explanation.entry}. ${p.group}. Each passes ${p.limiter}.` : `No quota applies. ${p.group}.`);
      }
    } catch {
      if (query === asked) fail("The daemon does not answer.");
    }
  };

  levee.group = {
    ask(resource, prefix, method, go) {
      const form = find("ask").elements;
      form.resource.value = resource; form.prefix.value = prefix; form.method.value = method;
      const q = new URLSearchParams({ resource });
      if (prefix) q.set("prefix", prefix);
      if (method) q.set("method", method);
      asked = q.toString();
      history.replaceState(null, "", "?" + asked);
      if (go) { find("group").scrollIntoView({ block: "nearest" }); form.resource.focus({ preventScroll: true }); }
      return load(true);
    },
    // refresh asks anew: debts and members change.
    refresh() { if (asked && !document.hidden) return load(false); },
  };

  find("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const form = find("ask").elements;
    levee.group.ask(form.resource.value, form.prefix.value, form.method.value, false);
  });
  const first = find("ask").elements;
  if (first.resource.value) levee.group.ask(first.resource.value, first.prefix.value, first.method.value, false);
})();
