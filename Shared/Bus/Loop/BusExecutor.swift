import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Runs tasks on the bus thread, between two polls of the sockets.
///
/// A task that mostly uses the bus costs half as much there as on Swift's global executor: its requests are performed at once, it
/// is resumed without a lock or a wake-up of another thread, and its memory is freed on the thread that allocated it. The price
/// is that the whole bus waits while the task computes.
final class BusExecutor: TaskExecutor {
    private let workQueue: BusWorkQueue
    /// The bus thread's `pthread_t`; 0 before the thread starts and after it ends.
    private let thread = Atomic<UInt>(0)
    /// The jobs to run next; only for the bus thread.
    private nonisolated(unsafe) var ready: [UnownedJob] = []
    /// The jobs of the current run; empty in between. It is kept to reuse its memory.
    private nonisolated(unsafe) var running: [UnownedJob] = []

    /// The time of the bus thread's last clock reading, which it takes between two polls. Only for that thread: reading the
    /// clocks for each request would cost too much.
    nonisolated(unsafe) var lastReading = ClockReading.now

    /// Detects pauses of the whole process.
    let watch = PauseWatch()

    /// The last clock reading on the bus thread; the current time on other threads.
    var now: ClockReading { isCurrent ? lastReading : .now }

    init(workQueue: BusWorkQueue) {
        self.workQueue = workQueue
    }

    /// Whether this is the bus thread.
    var isCurrent: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            ready.append(job)
        } else if !workQueue.submit(job) {
            Self.runElsewhere(job)
        }
    }

    /// Runs a job after the bus has ended, since its task must finish.
    private static func runElsewhere(_ job: UnownedJob) {
        globalConcurrentExecutor.enqueue(job)
    }

    // MARK: For the bus thread

    func begin() {
        thread.store(pthread_self(), ordering: .relaxed)
    }

    var isIdle: Bool { ready.isEmpty }

    func add(_ jobs: [UnownedJob]) {
        ready += jobs
    }

    /// Runs the jobs that are ready now. Jobs that become ready during this run wait for the next.
    func run() {
        guard !ready.isEmpty else { return }
        swap(&ready, &running)
        for job in running { job.runSynchronously(on: asUnownedTaskExecutor()) }
        running.removeAll(keepingCapacity: true)
    }

    /// Moves all jobs to the global executor, because the bus thread ends. Later jobs run there as well.
    ///
    /// - Parameter late: Jobs from the work queue that have not run.
    func end(_ late: [UnownedJob]) {
        thread.store(0, ordering: .relaxed)
        for job in ready + late { Self.runElsewhere(job) }
        ready = []
    }
}
