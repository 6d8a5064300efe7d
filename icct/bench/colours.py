"""One colour for each method, the same in every figure."""

COLOURS = {
    "dt": "#c7b42c",
    "dt-dagger": "#7a6a00",
    "cddt-crisp": "#8fd6d6",
    "icct-static": "#d9a400",
    "icct-1-feature": "#8c6bb1",
    "icct-2-feature": "#2166ac",
    "icct-3-feature": "#41ab5d",
    "icct-l1-sparse": "#f768a1",
    "icct-complete": "#b2182b",
    "cddt-controllers-crisp": "#d8b49c",
    "mlp-lower": "#ff7f00",
    "mlp-upper": "#999999",
    "mlp-max": "#1a1a1a",
    "cddt": "#01a5a5",
    "cddt-controllers": "#a65628",
}
