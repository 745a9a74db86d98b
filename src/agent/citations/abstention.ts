import type { Citation } from '@agent-server/schemas/citation.ts'
import { sentencesOf } from './sentences.ts'
import { negates } from './telling-words.ts'

/** UTF-16 code units: a longer answer says more than that the passages do not say something. */
const MAX_ABSTENTION = 2_000

/** What an answer calls its passages, in English, German, Spanish and French. */
const SOURCES =
  /(?<!\p{L})(?:passages?|documents?|excerpts?|texts?|sources?|context(?! menu)|Passagen?|Dokumenten?|Textstellen?|Unterlagen|Abschnitten?|Texten?|Quellen?|pasajes?|documentos?|fragmentos?|textos?|fuentes?|extraits?|textes?)(?!\p{L})/iu
/** What they do not do, or do not hold. */
const SAYING =
  /(?<!\p{L})(?:sa(?:y|ys|id)|stat(?:e|es|ed)|mention(?:s|ed)?|specif(?:y|ies|ied)|indicat(?:e|es|ed)|contain(?:s|ed)?|provide[sd]?|gives?|tells?|answers?|information|f(?:ind|ound)|enthalten|enthält|finden|sag(?:t|en)|steht|stehen|nenn(?:t|en)|erwähn(?:t|en)|genannt|Angaben?|Informationen|Auskunft|Antwort|dic(?:e|en)|menciona[n]?|mencionad[oa]s?|indica[n]?|especifica[n]?|información|respuesta|di(?:t|sent)|mentionn(?:e|ent|é|ée|és|ées)|précis(?:e|ent|é|ée)|indiqu(?:e|ent|é|ée)|informations?|réponse|trouvée?s?)(?!\p{L})/iu

/** `that` and the like after a word: what follows is what the passages say, which may negate without them doing so. */
const WHAT_IS_SAID = /(?<=\p{L}),? (?:that|dass|daß|que) .*/isu
/** What is so only if the passages say nothing. */
const CONDITION = /^\W*(?:if|unless|when|wenn|falls|sofern|si|cuando|quand|lorsque)(?!\p{L})/iu

/** Whether a sentence says that the passages do not say something: such a sentence rests on none of them. */
export function saysNothing(sentence: string): boolean {
  const claim = sentence.replace(WHAT_IS_SAID, '')
  return !CONDITION.test(sentence) && SOURCES.test(claim) && SAYING.test(claim) && negates(claim)
}

interface Cited {
  citation: Pick<Citation, 'by'>
  statement: string
}

/**
 * Whether an answer says that the passages do not say what was asked, and cites them for nothing else. What the server
 * has cited is a copied sentence, which speaks of other documents.
 */
export function abstains(answer: string, cited: readonly Cited[]): boolean {
  return (
    answer.length <= MAX_ABSTENTION &&
    cited.every(({ citation, statement }) => citation.by === 'model' && saysNothing(statement)) &&
    sentencesOf(answer).some(({ start, end }) => saysNothing(answer.slice(start, end)))
  )
}
