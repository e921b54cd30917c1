import NIOCore
import NIOPosix

/// A thread for the answers about the process's health and metrics. It serves nothing else, so it answers while all others are stuck.
enum HealthThread {
    /// Used until the process ends.
    static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// The thread's loop. Its timers go off while Swift's shared threads, which run those of `Task.sleep`, are stuck.
    static let loop = group.next()

    /// Runs tasks on the thread.
    static let executor = EventLoopExecutor(loop: loop)
}

/// Runs tasks on an event loop.
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
