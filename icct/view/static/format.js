// Numbers and small pieces of HTML, as the rest of the package writes them.

// Three significant digits, at least two decimals; as icct.policy.text.number has it.
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0.00";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent < -5 || exponent > 6) return minus(value.toPrecision(3));
  const [whole, fraction] = value.toFixed(Math.max(2, 2 - exponent)).split(".");
  return minus(`${whole}.${fraction.replace(/0+$/, "").padEnd(2, "0")}`);
}

// For numbers that change thirty times a second: as many decimals each time.
export function steady(value, decimals = 2) {
  if (value === null || value === undefined) return "–";
  const text = value.toFixed(decimals);
  return minus(Number(text) === 0 ? text.replace("-", "") : text);
}

// Decimals that tell apart a thousandth of a range, and two at least.
export function decimalsFor(range) {
  if (!Number.isFinite(range) || range <= 0) return 2;
  return Math.min(Math.max(Math.ceil(3 - Math.log10(range)), 2), 6);
}

export const minus = (text) => text.replace("-", "−");
// "0 or 1" would read as a second number.
export const withUnit = (text, unit) =>
  (unit ? `${text} ${/^\d/.test(unit) ? `(${unit})` : unit}` : text);

// Thirty times a second: what stays the same is not touched.
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") made.className = value;
    else if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
