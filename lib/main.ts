// Starts the service.
import { keepCompiled } from './base/compile-cache.ts';

keepCompiled();
const { serve } = await import('./serve.ts');
serve();
