import SystemPackage

/// The pipe that is every child's standard input. Only the supervisor has the write end. When the supervisor ends, even by
/// SIGKILL, the children read the end of their input and stop.
struct SupervisionPipe: Sendable {
    /// The read end for the children's standard input.
    let readEnd: FileDescriptor
    private let writeEnd: FileDescriptor

    init() throws {
        let pipe = try FileDescriptor.pipe(options: [.closeOnExec])
        readEnd = pipe.readEnd
        writeEnd = pipe.writeEnd
    }

    func close() throws {
        try writeEnd.close()
        try readEnd.close()
    }
}
