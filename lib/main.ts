// Starts the service.
import { keepCompiled } from './compile-cache.ts';

keepCompiled();
const { serve } = await import('./serve.ts');
serve();
