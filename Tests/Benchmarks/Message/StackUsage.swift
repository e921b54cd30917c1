import TestSupport

/// The processor time and memory of a stack's processes at one moment.
struct StackUsage {
    /// In seconds, by process. The last one is this process, which listens as the phone, with its ended child processes, which
    /// post.
    let processorTimes: [(name: String, seconds: Double)]
    /// In MiB, by process.
    private let resident: [(name: String, size: Double)]

    init(of stack: MessageStack) throws {
        let usages = try stack.processes.map { (name: $0.name, usage: try ProcessUsage(of: $0.identifier)) }
        processorTimes =
            usages.map { ($0.name, $0.usage.processorTime) } + [("benchmark", ProcessorTime.now())]
        resident = usages.map { ($0.name, Double($0.usage.resident) / 1_024) }
    }

    /// The memory at an earlier moment and at this one.
    func memory(since before: StackUsage) -> [MessageFigures.Memory] {
        zip(before.resident, resident).map { before, now in
            MessageFigures.Memory(name: now.name, begin: before.size.twoDigits, end: now.size.twoDigits)
        }
    }
}
