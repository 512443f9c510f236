// Rates: the history that the server has, and what comes in since.
"use strict";
(() => {
  const longest = 300, shortest = 60; // seconds
  // span is as much as there is to show.
  const span = () => Math.min(longest, Math.max(shortest, past.times.length ? past.times[past.times.length - 1] - past.times[0] : 0));
  const past = { times: [], accepted: [], rejected: [], failed: [], limiters: {} };
  let chart = null;

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // gap keeps a line from being drawn over a time when nobody watched.
  const push = (time, rates, limiters) => {
    const last = past.times[past.times.length - 1];
    if (last !== undefined && time <= last) return;
    if (last !== undefined && time - last > 4) row(last + 1, null, {});
    row(time, rates, limiters);
    while (past.times.length && past.times[0] < time - longest) {
      past.times.shift(); past.accepted.shift(); past.rejected.shift(); past.failed.shift();
      for (const list of Object.values(past.limiters)) list.shift();
    }
  };
  const row = (time, rates, limiters) => {
    past.times.push(time);
    for (const kind of ["accepted", "rejected", "failed"]) past[kind].push(rates ? rates[kind] : null);
    for (const id of Object.keys(limiters)) {
      if (!past.limiters[id]) past.limiters[id] = Array(past.times.length - 1).fill(null);
    }
    for (const [id, list] of Object.entries(past.limiters)) list.push(id in limiters ? limiters[id] : null);
  };

  const options = (width, height) => {
    const axis = { stroke: () => color("--soft"), grid: { stroke: () => color("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const line = (name, dash) => ({
      label: name, stroke: () => color("--" + name), width: 2, dash, points: { show: false },
      fill: name === "accepted" ? () => color("--accepted") + "22" : undefined,
    });
    return {
      width, height, legend: { show: false }, padding: [8, 12, 0, 0],
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: { x: { time: true, range: () => { const end = past.times[past.times.length - 1] || Date.now() / 1000; return [end - span(), end]; } }, y: { range: (_, low, high) => [0, Math.max(1, (high || 0) * 1.1)] } },
      axes: [{ ...axis, size: 26, space: 90, incrs: [10, 15, 30, 60, 120], values: (_, at) => at.map((t) => new Date(t * 1000).toLocaleTimeString("en-GB")) },
        { ...axis, size: 56, values: (_, at) => at.map(levee.short) }],
      series: [{}, line("accepted"), line("rejected", [6, 3]), line("failed", [2, 2])],
    };
  };

  const draw = () => {
    const box = levee.find("chart");
    const width = Math.floor(box.clientWidth), height = Math.floor(box.clientHeight);
    if (!width || !height) return;
    const data = [past.times, past.accepted, past.rejected, past.failed];
    if (!chart) chart = new uPlot(options(width, height), data, box);
    else {
      if (chart.width !== width || chart.height !== height) chart.setSize({ width, height });
      chart.setData(data);
    }
  };

  levee.rates = {
    begin(history) {
      // A daemon that was started again knows less than this page does.
      if (!past.times.length || history.times[0] <= past.times[0]) {
        past.times.length = past.accepted.length = past.rejected.length = past.failed.length = 0;
        past.limiters = {};
      }
      history.times.forEach((time, i) => {
        const rates = history.accepted[i] === null ? null
          : { accepted: history.accepted[i], rejected: history.rejected[i], failed: history.failed[i] };
        const limiters = {};
        for (const [id, list] of Object.entries(history.limiters)) if (list[i] !== null) limiters[id] = list[i];
        push(time, rates, limiters);
      });
      draw();
    },
    show(frame) {
      const limiters = {};
      for (const m of frame.members) if (m.role === "limiter" && m.rates) limiters[m.id] = m.rates.accepted + m.rates.rejected + m.rates.failed;
      push(Date.parse(frame.time) / 1000, frame.rates || null, limiters);
      for (const kind of ["accepted", "rejected", "failed"]) {
        levee.say(levee.find(kind), levee.short(frame.rates ? frame.rates[kind] : undefined));
      }
      levee.find("failed").classList.toggle("failing", Boolean(frame.rates && frame.rates.failed > 0));
      draw();
    },
    // top is the highest rate of any limiter, which all sparks are drawn against.
    top() { return Math.max(1, ...Object.values(past.limiters).flat().filter((n) => n !== null)); },
    // spark draws a limiter's last minutes into the paths of an svg.
    spark(id, line, under, top) {
      const list = past.limiters[id] || [], end = past.times[past.times.length - 1];
      const wide = span();
      let stroke = "", area = "", open = false, x = 0;
      list.forEach((rate, i) => {
        if (rate === null) { if (open) area += `L${x} 26Z`; open = false; return; }
        x = ((past.times[i] - end + wide) / wide * 110).toFixed(1);
        const y = (25 - 23 * rate / top).toFixed(1);
        stroke += (open ? "L" : "M") + `${x} ${y}`;
        area += (open ? "L" : `M${x} 26L`) + `${x} ${y}`;
        open = true;
      });
      if (open) area += `L${x} 26Z`;
      line.setAttribute("d", stroke || "M0 25");
      under.setAttribute("d", area || "M0 25");
    },
  };
  addEventListener("resize", () => { if (chart) draw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (chart) chart.redraw(false, true); });
})();
