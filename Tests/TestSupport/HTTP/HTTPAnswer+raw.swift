import Foundation
import NIOHTTP1

extension HTTPAnswer {
    /// Reads the bytes of an HTTP/1.1 response; `nil` if they are not one.
    package init?(parsing bytes: [UInt8]) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
        var headers = HTTPHeaders()
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers.add(name: String(parts[0]), value: parts[1].trimmingCharacters(in: .whitespaces))
        }
        let body = Data(bytes[end.upperBound...])
        self.init(
            status: status, version: words[0] == "HTTP/1.0" ? .http1_0 : .http1_1, headers: headers,
            body: headers.first(name: "transfer-encoding") == "chunked" ? Self.joined(chunks: body) : body)
    }

    /// The content of a chunked body, until its end or a chunk that is incomplete.
    private static func joined(chunks: Data) -> Data {
        var (content, rest) = (Data(), chunks[...])
        while let lineEnd = rest.firstRange(of: Data("\r\n".utf8)),
            let length = Int(String(decoding: rest[..<lineEnd.lowerBound], as: UTF8.self), radix: 16), length > 0
        {
            let chunk = rest[lineEnd.upperBound...]
            guard chunk.count >= length + 2 else { break }
            content += chunk.prefix(length)
            rest = chunk.dropFirst(length + 2)
        }
        return content
    }

    /// The body as `JSONSerialization` reads it; empty if it is not an object.
    package var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:]
    }
}
