// The stream of frames: it is read while it lasts, and opened again when it breaks.
"use strict";
(() => {
  const { say, find } = levee;
  const silence = 4000, pause = 2000, everyFrames = 3;
  let source = null, heard = 0, frames = 0, again = 0;

  const state = (health, text) => {
    find("link").dataset.health = health;
    say(find("link-text"), text);
    document.body.classList.toggle("away", health === "bad");
  };

  const lost = () => {
    state("bad", "not connected, trying again");
    if (source && source.readyState === EventSource.CLOSED && !again) again = setTimeout(open, pause); // it gives up after an error of HTTP
  };

  const frame = (event) => {
    heard = Date.now();
    const f = JSON.parse(event.data);
    state("good", "live");
    levee.rates.show(f);
    levee.members.show(f);
    levee.keys.show(f);
    say(find("time"), `State of ${new Date(f.time).toLocaleTimeString("en-GB")}.`);
    if (++frames % everyFrames === 0) levee.group.refresh();
  };

  const open = () => {
    again = 0;
    if (source) source.close();
    source = new EventSource("console/events");
    source.addEventListener("history", (event) => levee.rates.begin(JSON.parse(event.data)));
    source.addEventListener("frame", frame);
    source.addEventListener("error", lost);
    heard = Date.now();
  };

  // A connection can be dead without an error: then frames just stop.
  setInterval(() => {
    if (Date.now() - heard > silence) {
      lost();
      if (!again && Date.now() - heard > 2 * silence) open();
    }
  }, 1000);
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  open();
})();
