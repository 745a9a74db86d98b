/** Number of values that the module processes at a time. */
export const LANES = 8

/**
 * Dot product of 8-bit integers and floats, eight at a time, in SIMD: V8 does not vectorise loops, and a plain loop
 * takes five times as long.
 *
 *     (module
 *       (memory (export "memory") 1)
 *       (func (export "dot") (param $numbers i32) (param $question i32) (param $end i32) (result f32)
 *         (local $low v128) (local $high v128) (local $words v128)
 *         (loop $next
 *           (local.set $words (v128.load8x8_s align=1 (local.get $numbers)))
 *           (local.set $low (f32x4.add (local.get $low) (f32x4.mul
 *             (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $words)))
 *             (v128.load align=1 (local.get $question)))))
 *           (local.set $high (f32x4.add (local.get $high) (f32x4.mul
 *             (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $words)))
 *             (v128.load offset=16 align=1 (local.get $question)))))
 *           (local.set $question (i32.add (local.get $question) (i32.const 32)))
 *           (br_if $next (i32.lt_u
 *             (local.tee $numbers (i32.add (local.get $numbers) (i32.const 8)))
 *             (local.get $end))))
 *         (local.set $low (f32x4.add (local.get $low) (local.get $high)))
 *         (f32.add (f32.add (f32.add
 *           (f32x4.extract_lane 0 (local.get $low)) (f32x4.extract_lane 1 (local.get $low)))
 *           (f32x4.extract_lane 2 (local.get $low))) (f32x4.extract_lane 3 (local.get $low)))))
 */
const MODULE = Buffer.from(
  'AGFzbQEAAAABCAFgA39/fwF9AwIBAAUDAQABBxACA2RvdAAABm1lbW9yeQIACnIBcAEDewNAIAD9AQAAIQUgAyAF/acB/foBIAH9AAAA/eYB/eQBIQMgBCAF/agB/foBIAH9AAAQ/eYB/eQBIQQgAUEgaiEBIABBCGoiACACSQ0ACyADIAT95AEiA/0fACAD/R8BkiAD/R8CkiAD/R8Dkgs=',
  'base64',
)
const PAGE = 65_536

interface Memory {
  readonly buffer: ArrayBuffer
  grow(pages: number): void
}

interface Kernel {
  memory: Memory
  dot: (numbers: number, question: number, end: number) => number
}

/** The part of WebAssembly used here: TypeScript has its types only with those of browsers, which are not loaded. */
const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: {
    validate(bytes: Uint8Array): boolean
    Module: new (bytes: Uint8Array) => object
    Instance: new (module: object) => { exports: Kernel }
  }
}

/** Undefined if the processor has no SIMD instructions. */
const kernel = webAssembly.validate(MODULE)
  ? new webAssembly.Instance(new webAssembly.Module(MODULE)).exports
  : undefined

/**
 * The dot product of each of these rows of `numbers` with `question`, whose length is that of a row and a multiple of
 * `LANES`. Undefined if the processor has no SIMD instructions.
 */
export function dotProducts(
  numbers: Int8Array,
  rows: Uint32Array,
  question: Float32Array,
): Float64Array | undefined {
  if (!kernel) return undefined
  const { memory, dot } = kernel
  const dimension = question.length
  const missing = question.byteLength + dimension - memory.buffer.byteLength
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE))
  const start = question.byteLength
  new Float32Array(memory.buffer).set(question)
  // Copied by four numbers at a time: for so few, `set` and `subarray` take longer than the product itself.
  const length = dimension / Int32Array.BYTES_PER_ELEMENT
  const source = new Int32Array(numbers.buffer, numbers.byteOffset, numbers.length / 4)
  const operand = new Int32Array(memory.buffer, start, length)
  const products = new Float64Array(rows.length)
  for (const [place, row] of rows.entries()) {
    const from = row * length
    for (let i = 0; i < length; i++) operand[i] = source[from + i] ?? 0
    products[place] = dot(start, 0, start + dimension)
  }
  return products
}
