import { expect, it } from 'vitest'
import { prefersEightBits } from '../../src/builtin/processor.ts'

it.each([
  ['8 bits', 'an x64 processor with AVX-512 VNNI', 'x64', 'flags : avx2 avx512f avx512_vnni fsrm'],
  ['8 bits', 'an x64 processor with AVX-VNNI', 'x64', 'flags : avx2 avx_vnni sha_ni'],
  ['floats', 'an x64 processor with AVX2 alone', 'x64', 'flags : avx avx2 bmi2'],
  ['floats', 'an x64 processor with AVX-512, but no VNNI', 'x64', 'flags : avx2 avx512f avx512bw'],
  ['8 bits', 'an ARM processor with dot products', 'arm64', 'Features : fp asimd asimddp crc32'],
  ['floats', 'an ARM processor without them', 'arm64', 'Features : fp asimd crc32'],
  ['8 bits', 'a Mac with a processor of Apple', 'arm64', undefined],
  ['floats', 'an x64 processor that the system does not describe', 'x64', undefined],
])('computes with %s on %s', (form, _name, architecture, description) => {
  expect(prefersEightBits({ architecture, description })).toBe(form === '8 bits')
})
