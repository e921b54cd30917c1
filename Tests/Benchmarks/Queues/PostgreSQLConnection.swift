import Glibc

/// A connection to PostgreSQL by its C library, libpq. The library is loaded at run time, because only this benchmark needs it.
///
/// One thread at a time uses a connection.
final class PostgreSQLConnection: @unchecked Sendable {
    private let library: LibPQ
    private let connection: OpaquePointer

    /// - Parameter settings: A connection string of libpq.
    init(_ settings: String) throws {
        library = try LibPQ()
        guard let connection = library.connect(settings) else { throw PeerFailure(description: "libpq has no memory") }
        self.connection = connection
        guard library.status(connection) == LibPQ.connected else { throw failure }
    }

    deinit {
        library.finish(connection)
    }

    /// Executes a statement.
    ///
    /// - Returns: The number of rows in its result.
    @discardableResult
    func execute(_ statement: String) throws -> Int {
        try take(library.execute(connection, statement)) { Int(library.rowCount($0)) }
    }

    /// Prepares a statement with one parameter.
    func prepare(_ name: String, _ statement: String) throws {
        try take(library.prepare(connection, name, statement, 1, nil)) { _ in }
    }

    /// Executes a prepared statement.
    ///
    /// - Parameter value: The parameter in its binary form.
    /// - Returns: The first value of its result.
    func execute(prepared name: String, _ value: [UInt8]) throws -> String {
        try value.withUnsafeBytes { bytes in
            var pointer = bytes.bindMemory(to: CChar.self).baseAddress
            var (length, isBinary) = (CInt(bytes.count), CInt(1))
            return try take(library.executePrepared(connection, name, 1, &pointer, &length, &isBinary, 0)) { result in
                library.value(result, 0, 0).map { String(cString: $0) } ?? ""
            }
        }
    }

    private func take<Value>(_ result: OpaquePointer?, _ read: (OpaquePointer) -> Value) throws -> Value {
        guard let result else { throw failure }
        defer { library.clear(result) }
        guard LibPQ.successes.contains(library.resultStatus(result)) else { throw failure }
        return read(result)
    }

    private var failure: PeerFailure {
        PeerFailure(description: "PostgreSQL: " + (library.errorMessage(connection).map { String(cString: $0) } ?? ""))
    }
}

/// The functions of libpq that are used.
private struct LibPQ {
    /// `CONNECTION_OK`.
    static let connected: CInt = 0
    /// `PGRES_COMMAND_OK` and `PGRES_TUPLES_OK`.
    static let successes: [CInt] = [1, 2]

    let connect: @convention(c) (UnsafePointer<CChar>) -> OpaquePointer?
    let status: @convention(c) (OpaquePointer) -> CInt
    let finish: @convention(c) (OpaquePointer) -> Void
    let errorMessage: @convention(c) (OpaquePointer) -> UnsafePointer<CChar>?
    let execute: @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> OpaquePointer?
    let prepare:
        @convention(c) (
            OpaquePointer, UnsafePointer<CChar>, UnsafePointer<CChar>, CInt, UnsafePointer<CUnsignedInt>?
        ) -> OpaquePointer?
    let executePrepared:
        @convention(c) (
            OpaquePointer, UnsafePointer<CChar>, CInt, UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<CInt>,
            UnsafePointer<CInt>, CInt
        ) -> OpaquePointer?
    let resultStatus: @convention(c) (OpaquePointer) -> CInt
    let rowCount: @convention(c) (OpaquePointer) -> CInt
    let value: @convention(c) (OpaquePointer, CInt, CInt) -> UnsafePointer<CChar>?
    let clear: @convention(c) (OpaquePointer) -> Void

    init() throws {
        guard let library = dlopen("libpq.so.5", RTLD_NOW) else { throw PeerFailure(description: "libpq is not installed") }
        func function<Function>(_ name: String) throws -> Function {
            guard let address = dlsym(library, name) else { throw PeerFailure(description: "libpq has no \(name)") }
            return unsafeBitCast(address, to: Function.self)
        }
        connect = try function("PQconnectdb")
        status = try function("PQstatus")
        finish = try function("PQfinish")
        errorMessage = try function("PQerrorMessage")
        execute = try function("PQexec")
        prepare = try function("PQprepare")
        executePrepared = try function("PQexecPrepared")
        resultStatus = try function("PQresultStatus")
        rowCount = try function("PQntuples")
        value = try function("PQgetvalue")
        clear = try function("PQclear")
    }
}
