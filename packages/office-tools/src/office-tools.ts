export {
  CHANNEL_HELP,
  ChartRequest,
  type ChartRow,
  type Charts,
  createCharts,
  MAX_CHART_ROWS,
  RENDERING,
  toChartSpecification,
} from './charts/charts.ts'
export type { ChartSpecification } from './charts/render.ts'
export type { FormField, FormKind, FormResult, FormValues } from './forms/form.ts'
export { createForms, FILLING, type Forms } from './forms/forms.ts'
