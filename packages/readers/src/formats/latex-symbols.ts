/** Signs of equations with the names that LaTeX has for them. */
const NAMES = `
α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda μ mu
ν nu ξ xi π pi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega
Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega
∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ⋃ bigcup ⋂ bigcap ⋁ bigvee ⋀ bigwedge ⨁ bigoplus ⨂ bigotimes
× times ÷ div ± pm ∓ mp ⋅ cdot · cdot ∗ ast ∘ circ ⊕ oplus ⊗ otimes ∙ bullet
≤ le ≥ ge ≠ ne ≈ approx ≡ equiv ∼ sim ≃ simeq ≅ cong ∝ propto ≪ ll ≫ gg ≺ prec ≻ succ
∈ in ∉ notin ∋ ni ⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq ∪ cup ∩ cap ∖ setminus ∅ emptyset
∀ forall ∃ exists ∄ nexists ¬ neg ∧ wedge ∨ vee ⊢ vdash ⊨ models ⊥ perp ∥ parallel ∠ angle
→ rightarrow ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto ↑ uparrow ↓ downarrow
∞ infty ∂ partial ∇ nabla ∆ Delta √ sqrt ℏ hbar ℓ ell ℜ Re ℑ Im ℵ aleph ′ prime ° degree
… ldots ⋯ cdots ⋮ vdots ⋱ ddots ∴ therefore ∵ because
⟨ langle ⟩ rangle 〈 langle 〉 rangle ⌈ lceil ⌉ rceil ⌊ lfloor ⌋ rfloor | vert ‖ Vert ∣ mid`

const WORDS = NAMES.trim().split(/\s+/)
const SIGNS: ReadonlyMap<string, string> = new Map([
  ...WORDS.flatMap((sign, place) =>
    place % 2 === 0 ? [[sign, `\\${WORDS[place + 1]} `] as const] : [],
  ),
  ...Array.from('{}%#$_', (sign) => [sign, `\\${sign}`] as const),
  ['\\', '\\backslash '],
  ['^', '\\hat{} '],
  ['~', '\\sim '],
  ['−', '-'],
  // Signs of multiplication and application that are not shown.
  ...Array.from('\u2061\u2062\u2063\u2064\u200b', (sign) => [sign, ''] as const),
])

/** Letters in the styles of mathematics: bold, italic, script. */
const STYLED = /[\u{1d400}-\u{1d7ff}]/gu
const SPECIAL = new RegExp(
  `[${[...SIGNS.keys()].map((sign) => sign.replace(/[\\\]^-]/, '\\$&')).join('')}]`,
  'gu',
)

/** The text of an equation as LaTeX. `&` is where Word aligns lines, which is what it means in LaTeX. */
export function latexOf(text: string): string {
  return text
    .replaceAll(STYLED, (letter) => letter.normalize('NFKC'))
    .replaceAll(SPECIAL, (sign) => SIGNS.get(sign) ?? sign)
}
