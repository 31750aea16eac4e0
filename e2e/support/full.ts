/** `npm run test:full`: the matrices that `npm test` samples are tried whole. */
export const isFull = process.env.DROVER_TEST_FULL === '1'
