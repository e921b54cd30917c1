import JSON
import Time

extension JSONBytes {
    mutating func append(_ moment: UnixMilliseconds) {
        append(moment.rawValue)
    }

    mutating func append(_ time: Milliseconds) {
        append(time.rawValue)
    }

    mutating func append(_ time: Seconds) {
        append(time.rawValue)
    }
}

extension FastReader {
    mutating func moment() -> UnixMilliseconds? {
        integer().map(UnixMilliseconds.init(rawValue:))
    }

    mutating func milliseconds() -> Milliseconds? {
        integer().map(Milliseconds.init(rawValue:))
    }

    mutating func seconds() -> Seconds? {
        integer().map(Seconds.init(rawValue:))
    }
}
