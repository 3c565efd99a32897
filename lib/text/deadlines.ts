// Deadlines that lie some seconds ahead, looked at together now and then: most are called off long before, and a timer
// for each costs a call more than all its other clocks.

export interface Deadline {
  /** On the clock of `performance.now()`. */
  at: number;
  /** Called once, up to `LOOK_MS` late. */
  readonly onOver: () => void;
}

/** How late a deadline may be told. */
export const LOOK_MS = 100;

const open = new Set<Deadline>();
let ticker: NodeJS.Timeout | undefined;

/** Waits for a deadline, or goes on waiting when its time was changed. */
export function waitFor(deadline: Deadline): void {
  open.add(deadline);
  // What waits keeps its own connections, and with them the process.
  ticker ??= setInterval(look, LOOK_MS).unref();
}

export function callOff(deadline: Deadline): void {
  open.delete(deadline);
}

function look(): void {
  const now = performance.now();
  for (const deadline of open) {
    if (deadline.at > now) continue;
    open.delete(deadline);
    deadline.onOver();
  }
  if (open.size > 0) return;
  clearInterval(ticker);
  ticker = undefined;
}
