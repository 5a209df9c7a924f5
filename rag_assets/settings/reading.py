"""How pages are shown; changes no result of the pipeline."""

from pydantic import Field

from rag_assets.settings.stage import StageSettings


class ReadingSettings(StageSettings):
    """What one page may cost, and how many images of pages are kept."""

    timeout_s: float = Field(
        20.0, gt=0, description="Seconds one page may take to be drawn or searched; then its worker is killed."
    )
    max_memory_mb: int = Field(1024, gt=0, description="Address space a worker may add for one page, in MB.")
    max_workers: int = Field(2, gt=0, description="Pages drawn or searched at once, each in a process of its own.")
    kept_images_mb: float = Field(
        500.0,
        ge=0,
        description="Images of pages are kept up to this many MB (10^6 bytes), those not looked at for longest go "
        "first. 0 keeps none.",
    )
