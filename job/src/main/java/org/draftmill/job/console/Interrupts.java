package org.draftmill.job.console;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets a command stop cleanly on Ctrl-C (SIGINT) or SIGTERM: the first signal runs its action, the
 * second clears away what that began and ends the process at once, the third does not even wait for
 * that. The JDK's signal handling ({@code sun.misc.Signal}, module {@code jdk.unsupported}) is
 * reached by reflection, since the compiler warns of every use of it.
 */
public final class Interrupts implements AutoCloseable {
  private final Map<String, Object> former = new HashMap<>(); // handlers by name of the signal

  private Interrupts() {}

  /**
   * @param onFirst runs on a thread of its own; where signals cannot be handled it never runs
   * @param onSecond runs before the process ends, and should take no time
   */
  public static Interrupts handle(Runnable onFirst, Runnable onSecond) {
    AtomicInteger received = new AtomicInteger();
    Runnable onSignal =
        () -> {
          int before = received.getAndIncrement();
          if (before == 0) {
            Thread stopping = new Thread(onFirst, "draftmill-stop");
            stopping.setDaemon(true);
            stopping.start();
            return;
          }
          try {
            if (before == 1) {
              onSecond.run();
            }
          } finally {
            Runtime.getRuntime().halt(ExitCode.INTERRUPTED);
          }
        };
    Interrupts interrupts = new Interrupts();
    interrupts.install("INT", onSignal);
    interrupts.install("TERM", onSignal);
    return interrupts;
  }

  /** Puts back what handled the signals before. */
  @Override
  public void close() {
    former.forEach(Interrupts::set);
    former.clear();
  }

  private void install(String name, Runnable onSignal) {
    try {
      Class<?> handlerClass = Class.forName("sun.misc.SignalHandler");
      InvocationHandler invocation =
          (proxy, method, arguments) -> {
            switch (method.getName()) {
              case "handle" -> onSignal.run();
              case "hashCode" -> {
                return System.identityHashCode(proxy);
              }
              case "equals" -> {
                return proxy == arguments[0];
              }
              case "toString" -> {
                return "stop on SIG" + name;
              }
              default -> {}
            }
            return null;
          };
      Object handler =
          Proxy.newProxyInstance(
              Interrupts.class.getClassLoader(), new Class<?>[] {handlerClass}, invocation);
      Object before = set(name, handler);
      if (before != null) {
        former.put(name, before);
      }
    } catch (ClassNotFoundException e) {
      // A JVM without jdk.unsupported: see set.
    }
  }

  /** Returns what handled the signal before; null where signals cannot be handled. */
  private static Object set(String name, Object handler) {
    try {
      Class<?> signalClass = Class.forName("sun.misc.Signal");
      Class<?> handlerClass = Class.forName("sun.misc.SignalHandler");
      Method handle = signalClass.getMethod("handle", signalClass, handlerClass);
      return handle.invoke(
          null, signalClass.getConstructor(String.class).newInstance(name), handler);
    } catch (ReflectiveOperationException e) {
      // A JVM without jdk.unsupported, or one that was told to leave signals alone (-Xrs): the
      // signal then ends the process, and the next run resumes from the last checkpoint.
      return null;
    }
  }
}
