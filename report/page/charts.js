// Charts as plain SVG: lines over steps, and means with intervals.

const kColors = 8;  // --c0 … --c7 of the style
const kNarrow = '(max-width: 640px)';  // a screen without room for the names beside the intervals

// Values that divide [low, high] at round numbers.
function ticks(low, high, most) {
  const span = high - low || Math.abs(high) || 1;
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 5, 10].map((n) => n * power).find((s) => span / s <= most);
  const values = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-6; value += step) {
    values.push(+value.toPrecision(12));
  }
  return values;
}

// The least and the greatest value. A spread of more than some 100,000 arguments overflows the stack.
function rangeOf(values) {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)],
                       [Infinity, -Infinity]);
}

// Series with a mean over the latest points, as a thick line over the thin line of the points. `share` of
// the points is what each mean is of.
function smooth(points, share = 1 / 25) {
  if (points.length < 20 || share === 0) return points;
  const width = Math.max(3, Math.round(points.length * share));
  // The points stand in blocks of `width`. Those of a mean are the end of one block and the start
  // of the next, or one whole block: for each point the sum from the start of its block and that to
  // its end give all means in linear time, and as exact as sums of their own.
  const begun = [], ending = [];
  for (let i = 0; i < points.length; ++i) {
    begun[i] = points[i][1] + (i % width > 0 ? begun[i - 1] : 0);
  }
  for (let i = points.length - 1; i >= 0; --i) {
    ending[i] = points[i][1] + ((i + 1) % width > 0 ? ending[i + 1] ?? 0 : 0);
  }
  return points.map(([x], i) => {
    const from = Math.max(0, i - width + 1);
    return [x, (begun[i] + (from % width > 0 ? ending[from] : 0)) / (i - from + 1)];
  });
}

// series: [{name, points: [[x, y], …], color, dashed}]; without a color, its place. Values are shown under the
// pointer. options: unit (what x counts), smooth (as above), zero and exact.
function lineChart(title, series, options = {}) {
  const all = series.flatMap((one) => one.points);
  if (all.length === 0) return null;
  const width = 460, height = 220, left = 52, right = 10, top = 10, bottom = 26;
  let [x0, x1] = rangeOf(all.map((p) => p[0]));
  let [y0, y1] = rangeOf(all.map((p) => p[1]));
  if (options.zero !== false && y0 > 0 && y0 < y1 / 2) y0 = 0;
  if (y0 === y1) [y0, y1] = [y0 - (Math.abs(y0) || 1) / 2, y1 + (Math.abs(y1) || 1) / 2];
  if (x0 === x1) x1 = x0 + 1;
  const x = (value) => left + (value - x0) / (x1 - x0) * (width - left - right);
  const y = (value) => height - bottom - (value - y0) / (y1 - y0) * (height - top - bottom);
  const drawing = svg('svg', {viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'img',
                              'aria-label': title});
  for (const value of ticks(y0, y1, 5)) {
    drawing.append(
      svg('line', {class: 'grid', x1: left, x2: width - right, y1: y(value), y2: y(value)}),
      svg('text', {class: 'tick', x: left - 6, y: y(value) + 4, 'text-anchor': 'end'}, number(value)));
  }
  for (const value of ticks(x0, x1, 6)) {
    drawing.append(svg('text', {class: 'tick', x: x(value), y: height - 8,
                                'text-anchor': 'middle'}, number(value)));
  }
  const colorOf = (one, i) => `c${(one.color ?? i) % kColors}${one.dashed ? ' dashed' : ''}`;
  const groups = series.map((one, i) => {
    const line = (points) => points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(' ');
    const smoothed = options.exact ? one.points : smooth(one.points, options.smooth);
    const group = svg('g', {class: colorOf(one, i)},
      smoothed !== one.points && svg('polyline', {class: 'thin', points: line(one.points)}),
      one.points.length === 1
        ? svg('circle', {class: 'dot', cx: x(one.points[0][0]), cy: y(one.points[0][1]), r: 4})
        : svg('polyline', {class: 'thick', points: line(smoothed)}));
    drawing.append(group);
    return group;
  });
  const legend = h('div', {class: 'legend'}, series.map((one, i) =>
    h('button', {class: 'key ' + colorOf(one, i), 'aria-pressed': 'true', title: 'Show or hide',
                 onclick: (event) => {
                   const shown = groups[i].classList.toggle('hidden') === false;
                   event.currentTarget.setAttribute('aria-pressed', shown);
                 }}, svg('svg', {class: 'stroke', viewBox: '0 0 23 10', 'aria-hidden': 'true'},
                         svg('polyline', {points: '0,5 23,5'})), one.name)));
  const cursor = svg('line', {class: 'cursor hidden', y1: top, y2: height - bottom});
  drawing.append(cursor);
  const readout = h('div', {class: 'readout'});
  drawing.addEventListener('pointermove', (event) => {
    const box = drawing.getBoundingClientRect();
    const at = x0 + ((event.clientX - box.left) / box.width * width - left) /
      (width - left - right) * (x1 - x0);
    const near = (points) => points.reduce((best, point) =>
      Math.abs(point[0] - at) < Math.abs(best[0] - at) ? point : best);
    const step = near(all)[0];
    cursor.setAttribute('x1', x(step));
    cursor.setAttribute('x2', x(step));
    cursor.classList.remove('hidden');
    const values = series.map((one) => {
      const point = one.points.find((p) => p[0] === step);
      return point ? `${one.name} ${number(point[1])}` : null;
    }).filter((text) => text !== null);
    readout.textContent = `${options.unit ?? 'steps'} ${number(step)}: ${values.join(', ')}`;
  });
  drawing.addEventListener('pointerleave', () => {
    cursor.classList.add('hidden');
    readout.textContent = '';
  });
  return h('figure', {class: 'card'}, h('figcaption', {}, title), drawing,
           series.length > 1 && legend, readout);
}

// rows: [{name, estimate: {mean, low, high}, href}]; [low, high] is the range of the axis.
function intervalChart(title, rows, low = 0, high = 1) {
  const shown = rows.filter((row) => row.estimate);
  if (shown.length === 0) return null;
  const narrow = matchMedia(kNarrow).matches;  // the names stand above the intervals there
  const [width, left, right, line] = narrow ? [360, 12, 52, 42] : [620, 250, 60, 26];
  const top = 6, height = top + shown.length * line + 24;
  const x = (value) => left + (value - low) / (high - low) * (width - left - right);
  const drawing = svg('svg', {viewBox: `0 0 ${width} ${height}`, class: 'chart wide', role: 'img',
                              'aria-label': title});
  for (const value of ticks(low, high, 6)) {
    drawing.append(
      svg('line', {class: value === 0 && low < 0 ? 'axis' : 'grid', x1: x(value), x2: x(value),
                   y1: top, y2: height - 20}),
      svg('text', {class: 'tick', x: x(value), y: height - 6, 'text-anchor': 'middle'},
          number(value)));
  }
  shown.forEach((row, i) => {
    const y = top + (i + (narrow ? 0.75 : 0.5)) * line;
    const name = row.name.length > 40 ? '…' + row.name.slice(-39) : row.name;
    const label = narrow ? svg('text', {class: 'name', x: 0, y: y - 14}, name) :
      svg('text', {class: 'name', x: left - 10, y: y + 4, 'text-anchor': 'end'}, name);
    drawing.append(
      row.href ? svg('a', {href: row.href}, label) : label,
      svg('g', {class: 'c0'},
        svg('line', {class: 'thick', x1: x(row.estimate.low), x2: x(row.estimate.high), y1: y, y2: y}),
        svg('circle', {class: 'dot', cx: x(row.estimate.mean), cy: y, r: 4.5}),
        svg('title', {}, interval(row.estimate))),
      svg('text', {class: 'tick', x: width - right + 8, y: y + 4},
          low < 0 ? signed(row.estimate.mean) : fixed(row.estimate.mean)));
  });
  return h('figure', {class: 'card'}, h('figcaption', {}, title), drawing);
}
