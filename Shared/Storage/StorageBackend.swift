import DurableFiles

/// One of the two databases, opened for a store.
protocol StorageBackend: Sendable {
    /// Reads at one moment, beside writers.
    func snapshot<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value

    /// One read.
    func read<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value

    /// One change of one document.
    ///
    /// - Parameter body: May run more than once.
    func write<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value

    /// Several changes, all of which are done or none.
    ///
    /// - Parameter body: May run more than once.
    func transaction<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value

    /// Reads something small.
    func check() async throws

    /// What the store's collections take up, in bytes.
    func size(of store: StoreDeclaration) async throws -> Int64

    func diskSpace() async throws -> DiskSpace?

    func close() async throws
}

extension StorageBackend {
    func snapshot<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value {
        try await read(body)
    }

    func transaction<Value: Sendable>(_ body: @escaping @Sendable (any DocumentSession) throws -> Value) async throws -> Value {
        try await write(body)
    }
}
