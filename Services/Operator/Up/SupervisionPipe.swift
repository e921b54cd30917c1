import SystemPackage

/// The pipe from which every child's standard input is read. Only the supervisor can write to it. When the supervisor has ended,
/// however it did, the children read the end of their input, and stop.
struct SupervisionPipe: Sendable {
    /// For the children's standard input.
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
