/** Differences that are not 0, up to which all signs are tried; beyond, their sum is nearly normal. */
const MAX_EXACT = 12
/** Two-sided limit of the standard normal distribution at a level of 5 %. */
const NORMAL_LIMIT = 1.96
const LEVEL = 0.05

/**
 * Whether paired differences sum up to more than chance, at a level of 5 %: Fisher's randomization test, in which each
 * difference could as well have had the other sign (Smucker, Allan, Carterette: A comparison of statistical significance
 * tests for information retrieval evaluation, CIKM 2007).
 */
export function isSignificant(differences: readonly number[]): boolean {
  const changes = differences.filter((difference) => difference !== 0)
  const sum = Math.abs(total(changes))
  if (changes.length > MAX_EXACT) {
    const variance = total(changes.map((change) => change ** 2))
    return sum > NORMAL_LIMIT * Math.sqrt(variance)
  }
  const signings = 2 ** changes.length
  let extreme = 0
  for (let signs = 0; signs < signings; signs += 1) {
    const signed = changes.map((change, place) => ((signs >> place) & 1 ? change : -change))
    // Sums of the same numbers in another order may differ in the last digit.
    if (Math.abs(total(signed)) >= sum - 1e-9) extreme += 1
  }
  return changes.length > 0 && extreme / signings <= LEVEL
}

const total = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)
