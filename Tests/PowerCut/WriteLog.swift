import FoundationEssentials

/// The log of the write recorder (`Tests/WriteRecorder`): the changes of files below a folder, and the syncs, in order.
package struct WriteLog: Sendable {
    /// One record.
    struct Event: Sendable {
        enum Kind: Sendable {
            case write(inode: UInt64, offset: Int, data: Data)
            case truncate(inode: UInt64, size: Int)
            case syncBegin(number: UInt64)
            /// Covers the changes before its begin: a file's content, or a folder's names.
            case syncEnd(number: UInt64, inode: UInt64, path: String)
            case create(inode: UInt64, path: String)
            case rename(from: String, to: String)
            case link(from: String, to: String)
            case remove(path: String)
            case makeFolder(path: String)
        }

        let kind: Kind
        /// The log's length after this record, in bytes.
        let end: Int
    }

    /// The file is not a log.
    package struct Damaged: Error, CustomStringConvertible {
        package let description: String
    }

    let events: [Event]

    /// The log's length after each record, in bytes: the possible times of a power cut.
    package var cutPoints: [Int] { events.map(\.end) }

    /// - Throws: ``Damaged``.
    package init(path: String) throws {
        let data = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
        var events: [Event] = []
        var reader = Reader(data: data)
        while !reader.isAtEnd {
            if let event = try reader.event() { events.append(event) }
        }
        self.events = events
    }

    /// The records within this length of the log.
    func events(until length: Int) -> ArraySlice<Event> {
        events.prefix { $0.end <= length }
    }
}

/// The log ends before the end of a record.
private struct CutOff: Error {}

/// Reads records: `struct header` of recorder.c, the path, the data.
private struct Reader {
    private static let mark = withUnsafeBytes(of: UInt64(0x8c52_a1f0_6e3b_d947).littleEndian) { Data($0) }

    let data: Data
    private var position = 0

    init(data: Data) {
        self.data = data
    }

    var isAtEnd: Bool { position == data.count }

    /// - Returns: The next record; `nil` if it is cut off, because its process was killed. Then the next call reads the one after it.
    mutating func event() throws -> WriteLog.Event? {
        let start = position
        guard hasMark else { throw WriteLog.Damaged(description: "byte \(start): there is no record") }
        position += Self.mark.count
        let event: WriteLog.Event?
        do { event = try body(from: start) } catch is CutOff { event = nil }
        if event != nil, isAtEnd || hasMark { return event }
        // This record is cut off, or the one after it is within its mark.
        let next = data[(start + Self.mark.count)...].firstRange(of: Self.mark)?.lowerBound ?? data.count
        defer { position = next }
        return next < position ? nil : event
    }

    private var hasMark: Bool { data[position...].starts(with: Self.mark) }

    private mutating func body(from start: Int) throws -> WriteLog.Event {
        let kind = try number(UInt32.self)
        let pathLength = Int(try number(UInt32.self))
        let inode = try number(UInt64.self)
        let value = try number(UInt64.self)
        let dataLength = Int(clamping: try number(UInt64.self))
        let path = String(decoding: try bytes(pathLength), as: UTF8.self)
        let content = try bytes(dataLength)
        let target = { String(decoding: content, as: UTF8.self) }
        let event: WriteLog.Event.Kind =
            switch kind {
            case 1: .write(inode: inode, offset: Int(clamping: value), data: content)
            case 2: .truncate(inode: inode, size: Int(clamping: value))
            case 3: .syncBegin(number: value)
            case 4: .syncEnd(number: value, inode: inode, path: path)
            case 5: .create(inode: inode, path: path)
            case 6: .rename(from: path, to: target())
            case 7: .link(from: path, to: target())
            case 8, 10: .remove(path: path)
            case 9: .makeFolder(path: path)
            default: throw WriteLog.Damaged(description: "byte \(start): there is no record of kind \(kind)")
            }
        return WriteLog.Event(kind: event, end: position)
    }

    private mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws -> Number {
        let bytes = try bytes(MemoryLayout<Number>.size)
        return Number(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(as: Number.self) })
    }

    private mutating func bytes(_ count: Int) throws -> Data {
        guard count <= data.count - position else {
            throw CutOff()
        }
        defer { position += count }
        return data[position..<position + count]
    }
}
