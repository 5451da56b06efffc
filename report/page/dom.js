// Makes elements. Every text becomes a text node, so no text of a model or an environment is ever
// parsed as HTML; nothing in this page assigns to innerHTML.

// h('p', {class: 'note', onclick: f}, 'text', child, [more], null): null and false are left out.
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

// The same for SVG.
function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (name === 'style') {  // the policy allows styles only through their properties
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) {
      append(element, child);
    } else {
      element.append(child instanceof Node ? child : String(child));
    }
  }
}

const oneLine = (text) => text.replace(/\s+/g, ' ').trim();
const fixed = (value, digits = 3) =>
  value === null || value === undefined || Number.isNaN(value) ? '–' : value.toFixed(digits);
const percent = (part, whole, digits = 1) =>
  whole > 0 ? (100 * part / whole).toFixed(digits) + ' %' : '–';
const count = (value) => Math.round(value).toLocaleString('en');
const plural = (value, one) => `${count(value)} ${one}${value === 1 ? '' : 's'}`;
const signed = (value, digits = 3) => (value >= 0 ? '+' : '−') + Math.abs(value).toFixed(digits);

// A number for people: 12, 0.5, 0.00031.
function number(value) {
  if (typeof value !== 'number') return String(value);
  if (Number.isInteger(value)) return value.toLocaleString('en');
  const size = Math.abs(value);
  return size > 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2)
                                                  : String(+value.toPrecision(4));
}

// Seconds for people.
function duration(seconds) {
  if (seconds < 60) return seconds.toFixed(seconds < 10 ? 1 : 0) + ' s';
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// "0.530 [0.430, 0.620]" of {mean, low, high}.
function interval(estimate) {
  if (!estimate) return '–';
  return `${fixed(estimate.mean)} [${fixed(estimate.low)}, ${fixed(estimate.high)}]`;
}

function badge(kind, text, title) {
  return h('span', {class: 'badge ' + kind, title: title || null}, text);
}
