export { type Answered, answersRow, evaluateAnswers } from './evaluate-answers.ts'
export { evaluateSearch, searchRow } from './evaluate-search.ts'
export { createJudge, type Judge } from './judge.ts'
export { type AskedQuestion, type Place, toAskedQuestion } from './judged.ts'
export { DEPTH, mean, measure, TOP_K } from './measures.ts'
export { compareReports, Report } from './report.ts'
export { type EvaluationServices, evaluationRoutes } from './routes.ts'
export {
  EvaluationComparison,
  EvaluationReport,
  EvaluationRun,
  EvaluationRunList,
  JudgedLine,
  JudgedQuestion,
  JudgedQuestionList,
} from './schema.ts'
export type {
  EvaluationEnd,
  EvaluationStore,
  QuestionStore,
  StoredEvaluation,
  StoredQuestion,
} from './store.ts'
