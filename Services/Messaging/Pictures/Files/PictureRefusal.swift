import Schemas

/// Why a file is not taken as a picture.
struct PictureRefusal: Error, Hashable, Sendable {
    enum Reason: String, CaseIterable, Sendable {
        /// It does not begin as a PNG, a JPEG or a WebP.
        case type
        /// It has too many bytes, or too many pixels.
        case size, sides
        /// It ends too early, or something follows its end.
        case truncated, trailing
        /// A part of it is not as it was written.
        case checksum
        /// It has several pictures, one after another.
        case animated
        /// Something is not where or as its format has it.
        case structure
    }

    let reason: Reason
    /// One sentence for the person.
    let sentence: String

    init(_ reason: Reason, _ sentence: String) {
        self.reason = reason
        self.sentence = sentence
    }

    static let unknownType = PictureRefusal(.type, "the file is no PNG, JPEG or WebP")
    static let tooLarge = PictureRefusal(.size, "the file has more than \(MessagingLimits.maxPictureBytes) bytes")
    static let truncated = PictureRefusal(.truncated, "the file ends too early")
    static let trailing = PictureRefusal(.trailing, "the file has something behind the picture")
    static let animated = PictureRefusal(.animated, "the picture is animated")

    /// - Parameter what: What is not understood. It has no bytes of the file but names of parts, which are letters.
    static func structure(_ what: String) -> PictureRefusal {
        PictureRefusal(.structure, "the structure of the file is not understood: \(what)")
    }

    /// Checks the declared size of a picture, which decoders obey.
    static func check(width: Int, height: Int) throws(PictureRefusal) {
        guard width > 0, height > 0 else { throw structure("it has no width or no height") }
        let max = MessagingLimits.maxPictureSide
        guard width <= max, height <= max else {
            throw PictureRefusal(.sides, "the picture has \(width) × \(height) pixels, and may have \(max) × \(max)")
        }
    }
}

extension CommandFailure {
    init(_ refusal: PictureRefusal) {
        self.init(.invalid, "picture: \(refusal.sentence)", field: "picture")
    }
}
