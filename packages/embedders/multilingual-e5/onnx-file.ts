// Writes ONNX files. Field numbers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.

const [VARINT, BYTES, FIXED32] = [0, 2, 5]
const [IR_VERSION, OPSET] = [10, 21]

export const ELEMENT = { float32: 1, int64: 7, float16: 10, uint8: 2, int4: 22 }
type ElementType = keyof typeof ELEMENT

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}

function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint(number * 8 + VARINT), varint(value)])
  const bytes = Buffer.from(value)
  return Buffer.concat([varint(number * 8 + BYTES), varint(bytes.length), bytes])
}

const message = (...fields: Buffer[]) => Buffer.concat(fields)

/** A whole number, or a float. */
type Attribute = number | { float: number }

function attribute(name: string, value: Attribute): Buffer {
  if (typeof value === 'number') return message(field(1, name), field(3, value), field(20, 2))
  const float = Buffer.alloc(5)
  float[0] = 2 * 8 + FIXED32
  float.writeFloatLE(value.float, 1)
  return message(field(1, name), float, field(20, 1))
}

function valueInfo(name: string, type: ElementType, shape: readonly (number | string)[]): Buffer {
  const dims = shape.map((dim) => field(1, field(typeof dim === 'number' ? 1 : 2, dim)))
  const tensor = message(field(1, ELEMENT[type]), field(2, message(...dims)))
  return message(field(1, name), field(2, field(1, tensor)))
}

/** Collects the nodes and constants of a graph. Operators of ONNX Runtime are those of the domain `com.microsoft`. */
export function createGraph(name: string) {
  const parts: Buffer[] = []
  let nodes = 0

  return {
    input(input: string, type: ElementType, shape: readonly (number | string)[]) {
      parts.push(field(11, valueInfo(input, type, shape)))
      return input
    },
    output(output: string, type: ElementType, shape: readonly (number | string)[]) {
      parts.push(field(12, valueInfo(output, type, shape)))
    },
    constant(constant: string, type: ElementType, dims: readonly number[], values: Buffer) {
      const shape = dims.map((dim) => field(1, dim))
      parts.push(
        field(5, message(...shape, field(2, ELEMENT[type]), field(8, constant), field(9, values))),
      )
      return constant
    },
    /** Returns the name of the node's output. */
    node(
      operator: string,
      inputs: readonly string[],
      attributes: Record<string, Attribute> = {},
      { domain = '', output = `${operator}_${nodes++}` } = {},
    ) {
      const body = message(
        ...inputs.map((input) => field(1, input)),
        field(2, output),
        field(4, operator),
        ...Object.entries(attributes).map(([key, value]) => field(5, attribute(key, value))),
        field(7, domain),
      )
      parts.push(field(1, body))
      return output
    },
    toFile: () =>
      message(
        field(1, IR_VERSION),
        field(7, message(field(2, name), ...parts)),
        field(8, message(field(1, ''), field(2, OPSET))),
        field(8, message(field(1, 'com.microsoft'), field(2, 1))),
      ),
  }
}

export type Graph = ReturnType<typeof createGraph>
