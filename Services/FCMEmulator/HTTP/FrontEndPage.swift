import HTTPTypes
import Hummingbird
import NIOCore

/// The HTML page that Google's front end answers with when the request does not reach FCM, or FCM does not answer.
struct FrontEndPage: Hashable, Sendable {
    private let status: HTTPResponse.Status
    private let problem: String

    init(_ status: HTTPResponse.Status, _ problem: String) {
        self.status = status
        self.problem = problem
    }

    func response(headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.contentType] = "text/html; charset=UTF-8"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    private var text: String {
        let kind = status.kind == .serverError ? "Server Error" : status.reasonPhrase
        return """
            <!DOCTYPE html>
            <html lang=en>
              <meta charset=utf-8>
              <title>Error \(status.code) (\(kind))!!1</title>
              <p><b>\(status.code).</b> <ins>That’s an error.</ins>
              <p>\(problem)  <ins>That’s all we know.</ins>

            """
    }
}
