// SPDX-License-Identifier: MIT
// Colours for source code: comments, strings, numbers, keywords of CUDA C++ and Python.
"use strict";

const words = (text) => new Set(text.split(" "));
// (?![^]) is the end of the text, because with the flag m, $ is the end of any line.
const languages = {
  cuda: {
    keywords: words("alignas asm auto bool break case catch char class const constexpr continue default " +
      "delete do double else enum explicit extern false float for friend if inline int long namespace new " +
      "nullptr operator private protected public register return short signed sizeof static static_assert " +
      "static_cast reinterpret_cast const_cast struct switch template this throw true try typedef typename " +
      "union unsigned using virtual void volatile while half __half __nv_bfloat16 float2 float4 int2 int4 " +
      "uint2 uint4 dim3 size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t __global__ " +
      "__device__ __host__ __shared__ __constant__ __restrict__ __forceinline__ __launch_bounds__ __syncthreads " +
      "__syncwarp threadIdx blockIdx blockDim gridDim warpSize"),
    token: /(\/\/[^\n]*|\/\*[^]*?(?:\*\/|(?![^])))|(^[ \t]*#(?:\/\*[^]*?(?:\*\/|(?![^]))|[^\n\\]|\\[^])*)|("(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?)|(\b(?:0[xX][\da-fA-F]+|\d[\d.']*(?:[eE][+-]?\d+)?)[uUlLfFhH]*)|([A-Za-z_]\w*)|(<<<|>>>)/gm,
  },
  python: {
    keywords: words("and as assert async await break class continue def del elif else except False finally for " +
      "from global if import in is lambda None nonlocal not or pass raise return self True try while with yield"),
    token: /(#[^\n]*)|(^[ \t]*@[\w.]+)|([rRbBfFuU]{0,2}(?:"""(?:[^\\]|\\[^])*?(?:"""|(?![^]))|'''(?:[^\\]|\\[^])*?(?:'''|(?![^]))|"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?))|(\b(?:0[xX][\da-fA-F]+|\d[\d.]*(?:[eE][+-]?\d+)?)\b)|([A-Za-z_]\w*)|(<<<|>>>)/gm,
  },
};

// Splits a text into pieces of [text, class].
const piecesOf = (text, language) => {
  const pieces = [];
  let at = 0;
  for (const match of text.matchAll(language.token)) {
    if (match.index > at) pieces.push([text.slice(at, match.index), ""]);
    const kind = match[1] !== undefined ? "c" : match[2] !== undefined ? "p" : match[3] !== undefined ? "s"
      : match[4] !== undefined ? "d" : match[5] !== undefined ? (language.keywords.has(match[5]) ? "k" : "") : "k";
    if (kind === "s" && language.nested) for (const piece of language.nested(match[0])) pieces.push(piece);
    else pieces.push([match[0], kind]);
    at = match.index + match[0].length;
  }
  pieces.push([text.slice(at), ""]);
  return pieces;
};
// Python passes CUDA code to load_inline in triple-quoted strings; these are highlighted as CUDA.
languages.python.nested = (string) => {
  const [, open, code, close] = /^(\w*(?:"""|'''))([^]*?)("""|'''|)$/.exec(string) || [];
  if (open === undefined || !/__global__|__device__|#include|torch::|<<</.test(code)) return [[string, "s"]];
  return [[open, "s"], ...piecesOf(code, languages.cuda), [close, "s"]];
};

// The lines of a text, each a list of [text, class].
kbench.highlighted = (text, name) => {
  const lines = [[]];
  for (const [piece, kind] of piecesOf(text, languages[name] || languages.cuda)) {
    piece.split("\n").forEach((part, i) => {
      if (i > 0) lines.push([]);
      if (part !== "") lines[lines.length - 1].push([part, kind]);
    });
  }
  return lines;
};

// Source with numbered lines and each line's annotations below it.
kbench.sourceView = (source, annotations) => {
  const said = new Map();
  for (const annotation of annotations) said.set(annotation.line, (said.get(annotation.line) || []).concat([annotation]));
  const lines = kbench.highlighted(source.text.replace(/\n$/, ""), source.language);
  return kbench.make("pre", { class: "source", tabindex: "0", "aria-label": "source" }, lines.map((pieces, i) => {
    const of = said.get(i + 1) || [];
    return kbench.make("span", { class: "row" + (of.length > 0 ? " marked" : ""), "data-line": i + 1 },
      kbench.make("span", { class: "number", "aria-hidden": "true" }, String(i + 1)),
      pieces.map(([text, kind]) => (kind ? kbench.make("span", { class: kind }, text) : text)),
      of.map((annotation) => kbench.make("span", { class: "said " + (annotation.severity === "error" ? "bad" : "soft") },
        annotation.severity + ": " + annotation.text)));
  }));
};
