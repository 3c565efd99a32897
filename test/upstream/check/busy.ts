// A statement that keeps the CPU busy, for what plugins of tests do wrong.

/** Of user and system time: on some machines asking for it takes more of the second. */
export function writeBusy(ms: number): string {
  return `for (const since = process.cpuUsage(); ; ) {
  const { user, system } = process.cpuUsage(since);
  if (user + system > ${ms * 1000}) break;
}`;
}
