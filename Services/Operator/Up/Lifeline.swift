import SystemPackage

/// A pipe between the supervisor and its children. The read end is every child's standard input, and only the supervisor has the
/// write end. When the supervisor ends, even by SIGKILL, the children read the end of the pipe and stop.
struct Lifeline: Sendable {
    let end: FileDescriptor
    private let held: FileDescriptor

    init() throws {
        let pipe = try FileDescriptor.pipe(options: [.closeOnExec])
        end = pipe.readEnd
        held = pipe.writeEnd
    }

    func close() throws {
        try held.close()
        try end.close()
    }
}
