// Preloaded into a service with `--import`: at SIGUSR2 something of our own fails that nobody handles.
process.on('SIGUSR2', () => {
  setTimeout(() => {
    throw new Error('a mistake of our own');
  }, 1);
});
