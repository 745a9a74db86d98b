import { readFileSync } from 'node:fs'

/** Instructions that multiply and add numbers of 8 bits: AVX-512 VNNI, AVX-VNNI, and the dot products of NEON. */
const EIGHT_BIT = /\b(?:avx512_vnni|avx_vnni|asimddp)\b/

interface Processor {
  architecture: string
  /** Its description in Linux's `/proc/cpuinfo`; undefined on other systems. */
  description: string | undefined
}

/**
 * Whether a processor computes quicker with 8 bits than with floats; docs/internals/performance.md has what was
 * measured. Where the system does not say, ARM counts as one that does: Macs and computers with Windows have such ones.
 */
export function prefersEightBits(processor: Processor = thisProcessor()): boolean {
  const { architecture, description } = processor
  return description === undefined ? architecture === 'arm64' : EIGHT_BIT.test(description)
}

function thisProcessor(): Processor {
  const isLinux = process.platform === 'linux'
  return {
    architecture: process.arch,
    description: isLinux ? readFileSync('/proc/cpuinfo', 'latin1') : undefined,
  }
}
