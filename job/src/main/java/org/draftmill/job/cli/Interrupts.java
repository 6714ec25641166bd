package org.draftmill.job.cli;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets a command stop cleanly on Ctrl-C (SIGINT) or SIGTERM: the first signal runs its action, the
 * second ends the process at once. The JDK's signal handling ({@code sun.misc.Signal}, module
 * {@code jdk.unsupported}) is reached by reflection, since the compiler warns of every use of it.
 */
public final class Interrupts {
  private Interrupts() {}

  /**
   * @param onFirst runs on a thread of its own; where signals cannot be handled it never runs
   */
  public static void handle(Runnable onFirst) {
    AtomicInteger received = new AtomicInteger();
    Runnable onSignal =
        () -> {
          if (received.getAndIncrement() == 0) {
            Thread stopping = new Thread(onFirst, "draftmill-stop");
            stopping.setDaemon(true);
            stopping.start();
          } else {
            Runtime.getRuntime().halt(ExitCode.INTERRUPTED);
          }
        };
    install("INT", onSignal);
    install("TERM", onSignal);
  }

  private static void install(String name, Runnable onSignal) {
    try {
      Class<?> signalClass = Class.forName("sun.misc.Signal");
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
      Method handle = signalClass.getMethod("handle", signalClass, handlerClass);
      handle.invoke(null, signalClass.getConstructor(String.class).newInstance(name), handler);
    } catch (ReflectiveOperationException e) {
      // A JVM without jdk.unsupported, or one that was told to leave signals alone (-Xrs): the
      // signal then ends the process, and the next run resumes from the last checkpoint.
    }
  }
}
