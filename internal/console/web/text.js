// Text into the document, as text only: names come from clients and other hosts.
"use strict";
const levee = {};

// make returns an element with classes, attributes and children; strings among
// the children become text.
levee.make = (name, classes, attributes, ...children) => {
  const e = document.createElement(name);
  if (classes) e.className = classes;
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== ""));
  return e;
};

const svgNames = "http://www.w3.org/2000/svg";
levee.svg = (name, attributes, ...children) => {
  const e = document.createElementNS(svgNames, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
};

// say changes a text only when it is another one, so that nothing is spoken twice.
levee.say = (e, text) => {
  if (e && e.textContent !== text) e.textContent = text;
};

// find is for what the page has.
levee.find = (id) => document.getElementById(id);

// number is a rate or a count with three digits that matter.
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const small = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });
levee.number = (n) => {
  if (n === undefined || n === null || !Number.isFinite(n)) return "–";
  if (n === 0) return "0";
  return n < 10 && !Number.isInteger(n) ? small.format(n) : whole.format(n);
};

// short is for axes and tiles: 12.3k.
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
levee.short = (n) => {
  if (n === undefined || n === null || !Number.isFinite(n)) return "–";
  return n >= 10000 ? compact.format(n) : levee.number(n);
};

levee.plural = (n, one, many) => `${whole.format(n)} ${n === 1 ? one : many}`;

// ago is how long something has lasted, in one unit, or two where that matters.
levee.ago = (since, now) => {
  const s = Math.max(0, Math.round((now - since) / 1000));
  if (s < 60) return `${s} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return `${m} min`;
  const h = Math.floor(m / 60);
  if (h < 48) return m % 60 ? `${h} h ${m % 60} min` : `${h} h`;
  return `${Math.floor(h / 24)} days`;
};

// pill is a state: a dot in a colour and a shape, and the word.
levee.pill = (health, word) => levee.make("span", "pill", { "data-health": health },
  levee.make("span", "dot", { "aria-hidden": "true" }), levee.make("span", "word", null, word));

// bar is a share of a whole, for the eye; the number stands beside it.
levee.bar = (share) => levee.svg("svg", { class: "share", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
  levee.svg("rect", { class: "whole", x: 0, y: 0, width: 100, height: 8 }),
  levee.svg("rect", { x: 0, y: 0, width: Math.max(share > 0 ? 1 : 0, 100 * Math.min(1, share)), height: 8 }));
