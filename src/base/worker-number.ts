/**
 * The variable with which the primary process tells a worker its number: lines of the log need it before the worker asks for its port.
 * It also tells a worker of Portico from a worker of another program.
 */
export const WORKER_NUMBER = 'PORTICO_STARTED_AS_WORKER'
