import { makeWith } from './make-with.ts'
import type { Block, Sample } from './samples.ts'

/** Sets a sample with pdflatex. */
export async function typeset(sample: Sample): Promise<Uint8Array> {
  return makeWith(['pdflatex', '-interaction=batchmode'], {
    name: 'sample.tex',
    source: toLatex(sample),
    // The widths of the columns of tables settle.
    runs: 3,
  })
}

function toLatex({ blocks, header, isTwoColumned }: Sample): string {
  const [title, ...rest] = blocks.map((block) => latexOf(block, isTwoColumned))
  return String.raw`\documentclass[10pt,a4paper${isTwoColumned ? ',twocolumn' : ''}]{article}
\usepackage[T1]{fontenc}
\usepackage{lmodern,booktabs,longtable,multicol,fancyhdr,array,geometry}
\geometry{margin=25mm,headsep=8mm}
\pagestyle{${header ? 'fancy' : 'empty'}}\fancyhf{}\lhead{${header ?? ''}}
\begin{document}
${isTwoColumned ? `\\twocolumn[${title}\\bigskip]\\thispagestyle{empty}` : title}

${rest.join('\n\n')}
\end{document}
`
}

function latexOf(block: Block, isTwoColumned = false): string {
  switch (block.kind) {
    case 'title':
      return `{\\LARGE\\bfseries\\noindent ${block.text}\\par}\\medskip`
    case 'heading':
      return `\\section*{${block.text}}`
    case 'note':
      return `{\\footnotesize ${block.text}\\par}`
    case 'text':
      return `${block.text}${block.footnote ? `\\footnote{${block.footnote}}` : ''}`
    case 'columns':
      return `\\begin{multicols}{2}\\noindent ${block.texts.join('\\columnbreak\\par\\noindent ')}\\end{multicols}`
    case 'table':
      return tableOf(block, isTwoColumned)
  }
}

function tableOf(
  { rows, isRuled, hasProse }: Extract<Block, { kind: 'table' }>,
  isTwoColumned: boolean,
): string {
  const [head = [], ...body] = rows.map((row) => `${row.join(' & ')} \\\\`)
  const types = (rows[0] ?? []).map((_, n) =>
    n === 0 ? 'l' : hasProse && n === 1 ? 'p{7cm}' : 'r',
  )
  const [top, below, bottom] = isRuled
    ? ['\\hline', '\\hline', '\\hline']
    : ['\\toprule', '\\midrule', '\\bottomrule']
  const columns = isRuled ? `|${types.join('|')}|` : types.join('')
  const lines = body.map((row) => (isRuled ? `${row} \\hline` : row)).join('\n')
  return isTwoColumned
    ? `\\smallskip\\noindent\\begin{tabular}{${columns}}${top} ${head} ${below}\n${lines} ${isRuled ? '' : bottom}\\end{tabular}\\smallskip`
    : `\\begin{longtable}[l]{${columns}}${top} ${head} ${below}\\endhead\n${lines} ${isRuled ? '' : bottom}\\end{longtable}`
}
