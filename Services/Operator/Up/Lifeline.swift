import SystemPackage

/// A pipe whose one end every child has as its standard input, and whose other end only the supervisor has: when the
/// supervisor is gone, however it ended, the children see the end of it and stop.
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
