/** Model files: safetensors, folders of them, and JSON configurations. */
package org.draftmill.compute.io;
