import Base

/// The kinds of pictures, recognised by their bytes.
package enum PictureType: String, ClosedEnum {
    case png, jpeg, webp

    /// Of HTTP.
    package var mediaType: String { "image/\(rawValue)" }
    /// The end of a file's name.
    package var suffix: String { self == .jpeg ? "jpg" : rawValue }
}

/// What a picture is, without its bytes.
package struct PictureInfo: Codable, Hashable, Sendable {
    package let type: PictureType
    /// In pixels, before the orientation that the file may have is applied.
    package let width: Int
    package let height: Int
    package let bytes: Int

    package init(type: PictureType, width: Int, height: Int, bytes: Int) {
        self.type = type
        self.width = width
        self.height = height
        self.bytes = bytes
    }
}

/// A picture that a person has uploaded, and can use until it ``expires``: the answer of `POST /user/pictures`.
package struct UploadedPicture: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let picture: PictureInfo
    package let expires: UnixMilliseconds

    package init(id: ObjectID, picture: PictureInfo, expires: UnixMilliseconds) {
        self.id = id
        self.picture = picture
        self.expires = expires
    }
}

/// What a picture belongs to. Who sees that sees the picture.
package enum PictureHolder: String, ClosedEnum {
    /// A message, by its id.
    case message
    /// A status, by its id.
    case status
    /// The profile of a person, by the account's name.
    case profile
    /// A report, by its id.
    case report
    /// A message of the hub, by the id of the picture. Everybody sees it.
    case published
}
