// Whether standard output blocks is a property of the pipe, which all processes of a service share. Node makes it
// non-blocking when `process.stdout` is first touched; the start of a process that inherits it makes it blocking again
// (`uv__process_child_init` in libuv), and so does the end of one (`ResetStdio` in Node). A write that waits in a thread
// for the reader keeps a process from ending.
interface Handle {
  setBlocking?(blocking: boolean): number;
}

/** From now on a write to a pipe that is full fails with `EAGAIN`. Repeat it after each start and end of such a process. */
export function keepStdoutFromBlocking(): void {
  (process.stdout as { _handle?: Handle | null })._handle?.setBlocking?.(false);
}
