// One slider for each feature that the policy looks at. Sliders hold raw numbers, labels physical ones.
import { decimalsFor, element, steady, withUnit, write } from "icct/format.js";

const SHOWN = 8; // sliders; the others are folded

// The decimal that was meant: 3.9 / 30 is 0.13, whatever the last bit of the quotient.
const rawOf = (physical, scale) => Number((physical / scale).toPrecision(15));

export function makeSliders(place, policy, onChange) {
  const observation = new Float64Array(policy.features.length);
  const rows = policy.sliders.map(({ feature, low, high, start }) => {
    const { name, unit, scale } = policy.features[feature];
    const decimals = decimalsFor((high - low) * scale);
    const range = element("input", { type: "range", min: String(low), max: String(high),
      step: "any", ariaLabel: name, disabled: low === high });
    const typed = element("input", { type: "number", step: "any", ariaLabel: `${name} in ${unit}` });
    const raw = element("span", { class: "quiet" });
    const row = element("div", { class: "slider", "data-feature": String(feature) },
      element("span", { class: "name", title: name }, name), typed,
      element("span", { class: "quiet" }, unit), range, raw);
    const tell = (from) => {
      const value = observation[feature];
      if (from !== range) range.value = String(value);
      if (from !== typed) typed.value = steady(value * scale, decimals).replace("−", "-");
      const outside = value < low || value > high ? ", outside the bounds" : "";
      write(raw, scale === 1 ? outside.slice(2) : withUnit(`raw ${Number(value.toPrecision(4))}`, outside));
    };
    const set = (value, from) => {
      if (!Number.isFinite(value)) return;
      observation[feature] = value;
      tell(from);
    };
    range.addEventListener("input", () => { set(Number(range.value), range); onChange(observation); });
    typed.addEventListener("input", () => {
      if (typed.value !== "") set(rawOf(Number(typed.value), scale), typed);
      onChange(observation);
    });
    set(start);
    return { feature, row, set };
  });
  place.replaceChildren(...rows.slice(0, SHOWN).map(({ row }) => row));
  if (rows.length > SHOWN) {
    place.append(element("details", {},
      element("summary", {}, `${rows.length - SHOWN} more features`),
      ...rows.slice(SHOWN).map(({ row }) => row)));
  }
  onChange(observation);

  return {
    observation,
    move(values) { // raw values of all features, by position
      for (const { feature, set } of rows) set(values[feature]);
      onChange(observation);
    },
  };
}
