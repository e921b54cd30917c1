import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Runs tasks on the bus thread, between its looks at the sockets.
///
/// A task that lives from the bus costs half as much there as on the threads of Swift concurrency: what it asks of the bus is
/// done at once, what it waited for resumes it without a lock or another thread's wake-up, and its memory comes back on the
/// thread that gave it. The price is that everything else of the bus waits while it computes.
final class BusExecutor: TaskExecutor {
    private let outbox: Outbox
    /// The bus thread's `pthread_t`; 0 before it begins and from its end on.
    private let thread = Atomic<UInt>(0)
    /// What is to be run next; touched by the bus thread alone.
    private nonisolated(unsafe) var ready: [UnownedJob] = []
    /// What is being run; empty in between, and kept for its memory.
    private nonisolated(unsafe) var running: [UnownedJob] = []

    /// When the bus thread last looked at its clocks, which it does between any two looks at the sockets. For that thread
    /// alone: a look for each request would cost more than is gained by it.
    nonisolated(unsafe) var moment = BusMoment.now

    /// Notices when that thread, and all others, did not run.
    let watch = PauseWatch()

    /// That moment on the bus thread, and this one elsewhere.
    var now: BusMoment { isCurrent ? moment : .now }

    init(outbox: Outbox) {
        self.outbox = outbox
    }

    /// Whether this is the bus thread.
    var isCurrent: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            ready.append(job)
        } else if !outbox.submit(job) {
            Self.runElsewhere(job)
        }
    }

    /// A task has to end, even where its bus did so before.
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

    /// Runs what is ready now; what becomes ready meanwhile is left for the next time.
    func run() {
        guard !ready.isEmpty else { return }
        swap(&ready, &running)
        for job in running { job.runSynchronously(on: asUnownedTaskExecutor()) }
        running.removeAll(keepingCapacity: true)
    }

    /// The bus thread ends: from now on its tasks run where others do.
    ///
    /// - Parameter late: What came by the outbox and was not run.
    func end(_ late: [UnownedJob]) {
        thread.store(0, ordering: .relaxed)
        for job in ready + late { Self.runElsewhere(job) }
        ready = []
    }
}
